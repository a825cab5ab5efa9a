"""Confidence intervals for chains that share sources or programs and so are not independent.

With sources alone an interval covers other pictures under
these programs; with programs too, also other programs.
"""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import gcd

import numpy as np
from scipy import special

RESAMPLES = 2000
SEED = 0  # the same chains give the same interval
CONFIDENCE = 0.95
_UNSEEN = 1.0  # the size, as a share of all rounds, of the one loss or gain that is added to those seen
_STRETCH = 0.1  # of the reach, squared: found by simulation on short and unequal rounds
_FEW = 8.0  # sources with the rarer mark at which the estimated dependence gets half the weight

Limits = tuple[float, float]


def student_quantile(free: float) -> float:
    """How many standard errors Student's limits are from the mean."""
    return float(special.stdtrit(free, (1 + CONFIDENCE) / 2))


def membership(clusters: Sequence[Hashable]) -> np.ndarray:
    """One row per cluster, one column per chain."""
    place = {name: row for row, name in enumerate(dict.fromkeys(clusters))}
    rows = np.zeros((len(place), len(clusters)))
    rows[[place[name] for name in clusters], np.arange(len(clusters))] = 1
    return rows


@lru_cache(maxsize=4)
def drawn_clusters(size: int) -> np.ndarray:
    """How often each cluster is drawn, one row per resample."""
    return np.random.default_rng(SEED).multinomial(size, np.full(size, 1 / size), RESAMPLES).astype(float)


@lru_cache(maxsize=64)  # the same chains are asked about for each round and each metric
def _places(groups: tuple[Hashable, ...]) -> np.ndarray:
    place: dict[Hashable, int] = {}
    return np.array([place.setdefault(name, len(place)) for name in groups])


def _totals(values: np.ndarray, groups: Sequence[Hashable]) -> np.ndarray:
    return np.bincount(_places(tuple(groups)), weights=values)


def _clustered(values: np.ndarray, groups: Sequence[Hashable]) -> tuple[float, float]:
    """The variance of the mean if whole groups are drawn, and the effective number of groups.

    Reference: Carter, Schnepel and Steigerwald, The Review of Economics and Statistics 99 (2017).
    """
    parts = _totals(values - values.mean(), groups) / len(values)
    sizes = np.bincount(_places(tuple(groups))).tolist()
    if len(sizes) < 2:
        return 0.0, 1.0
    total, squares, cubes = (sum(size**power for size in sizes) for power in (1, 2, 3))
    above, below = total**2 * squares, total**2 * squares - 2 * total * cubes + squares**2
    divisor = gcd(above, below)  # of equal groups: their number, over one less
    return float(parts @ parts) * (above // divisor) / (below // divisor), total**2 / squares


def _variance(
    values: np.ndarray, sources: Sequence[Hashable], programs: Sequence[Hashable] | None = None
) -> tuple[float, float]:
    """The variance of the mean and its degrees of freedom (Satterthwaite's).

    Two ways: that over sources plus that over programs less that over their
    cells, never less than either alone. References: Cameron, Gelbach and
    Miller, JBES 29 (2011); Owen, Annals of Applied Statistics 1 (2007).
    """
    over_sources, size = _clustered(values, sources)
    free_sources = max(size - 1, 1.0)
    if programs is None or len(set(programs)) < 2:
        return over_sources, free_sources
    over_programs, count = _clustered(values, programs)
    free_programs = max(count - 1, 1.0)
    over_cells, _ = _clustered(values, list(zip(sources, programs, strict=True)))
    both = max(over_sources + over_programs - over_cells, over_sources, over_programs)
    least = min(free_sources, free_programs)
    if both == 0:
        return 0.0, least
    free = both**2 / (over_sources**2 / free_sources + over_programs**2 / free_programs)
    return both, min(max(free, least), free_sources + free_programs)


def student_interval(values: np.ndarray, sources: Sequence[Hashable]) -> Limits | None:
    """Student's t, for unbounded values; a source counts by its chains."""
    if len(set(sources)) < 2:
        return None
    spread, free = _variance(values, sources)
    reach = student_quantile(free) * spread**0.5
    return float(values.mean()) - reach, float(values.mean()) + reach


def mean_over_clusters(
    values: Sequence[float | None], clusters: Sequence[Hashable]
) -> tuple[float | None, list[float] | None]:
    """The mean of the clusters' means, with Student's t limits from two clusters on."""
    groups: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        if value is not None:
            groups.setdefault(cluster, []).append(value)
    means = np.array([np.mean(group) for group in groups.values()])
    if not len(means):
        return None, None
    centre = float(means.mean())
    if len(means) < 2:
        return centre, None
    reach = float(student_quantile(len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means)))
    return centre, [centre - reach, centre + reach]


def share_interval(
    marks: np.ndarray, sources: Sequence[Hashable], programs: Sequence[Hashable] | None = None
) -> Limits | None:
    """Score limits of a share of marks (0 or 1); the groups determine the effective number of chains.

    While the rarer mark was seen in few groups, that number is drawn towards the number of groups.
    References: Wilson, JASA 22 (1927); Korn and Graubard, Survey Methodology 24 (1998).
    """
    marks = np.asarray(marks, float)
    size = len(set(sources))
    if size < 2:
        return None
    least = size if programs is None else min(size, max(len(set(programs)), 2))
    share = float(marks.mean())
    spread, free = _variance(marks, sources, programs)
    worth = float(np.clip(share * (1 - share) / spread, least, len(marks))) if spread > 0 else float(least)
    rare = marks if share <= 0.5 else 1 - marks
    seen = int((_totals(rare, sources) > 0).sum())
    worth = (seen + _FEW) / (seen / worth + _FEW / min(size, worth))
    square = student_quantile(free) ** 2
    centre = (share + square / (2 * worth)) / (1 + square / worth)
    reach = np.sqrt(square * (share * (1 - share) / worth + square / (4 * worth**2))) / (1 + square / worth)
    return float(max(centre - reach, 0)), float(min(centre + reach, 1))


def mean_interval(
    values: np.ndarray,
    sources: Sequence[Hashable],
    last: float,
    programs: Sequence[Hashable] | None = None,
    first: float = 0.0,
) -> Limits | None:
    """Limits of a mean between the first and the last possible round: the widest of three at each end.

    Student's t on group means; the same on the logit scale, stretched, because rounds are
    skewed; and `_beyond`: six sources that all survive do not prove that none is ever lost.
    """
    values = np.clip(np.asarray(values, float), first, last) - first
    last = last - first
    if len(set(sources)) < 2:
        return None
    centre = float(values.mean())
    spread, free = _variance(values, sources, programs)
    reach = student_quantile(free) * spread**0.5
    low, high = centre - reach, centre + reach
    if 0 < centre < last:
        low, high = (
            min(low, last - _stretched(last - centre, reach, last)),
            max(high, _stretched(centre, reach, last)),
        )
    low = min(low, last - _beyond(last - values, sources, programs, last))
    high = max(high, _beyond(values, sources, programs, last))
    return first + float(max(low, 0.0)), first + float(min(high, last))


def _stretched(centre: float, reach: float, last: float) -> float:
    steep = reach * last / (centre * (last - centre))
    return last * float(special.expit(special.logit(centre / last) + steep * (1 + _STRETCH * steep)))


def _beyond(
    distance: np.ndarray, sources: Sequence[Hashable], programs: Sequence[Hashable] | None, last: float
) -> float:
    """How far the mean may be from an end, by the share of chains away from it; 0 if all chains are."""
    away = distance > 1e-6
    if away.all():
        return 0.0
    _, share = share_interval(away, sources, programs)  # type: ignore[misc]  # not None with two sources
    groups = int((_totals(away, sources) > 0).sum())
    mean_distance = float(distance[away].mean()) if groups else 0.0
    return share * (mean_distance * groups + _UNSEEN * last) / (groups + 1)
