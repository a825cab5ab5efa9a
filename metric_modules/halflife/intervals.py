"""Confidence intervals that know that chains of one source are not independent."""

from collections.abc import Hashable, Sequence

import numpy as np
from scipy import special

from .survival import median, survival

RESAMPLES = 2000
SEED = 0  # the same chains give the same interval


def membership(clusters: Sequence[Hashable]) -> np.ndarray:
    """One row per cluster, one column per chain, 1 where the chain belongs to the cluster."""
    place = {name: row for row, name in enumerate(dict.fromkeys(clusters))}
    rows = np.zeros((len(place), len(clusters)))
    rows[[place[name] for name in clusters], np.arange(len(clusters))] = 1
    return rows


def median_interval(
    times: np.ndarray, lost: np.ndarray, clusters: Sequence[Hashable], confidence: float
) -> tuple[float, float] | None:
    """Limits of the Kaplan-Meier median from a bootstrap over clusters; infinity where a limit lies past the end.

    Percentile limits are expanded, because with few clusters the plain ones are too narrow.
    Reference: Hesterberg, What teachers should know about the bootstrap, The American Statistician 69 (2015).
    """
    member = membership(clusters)
    size = len(member)
    if size < 2:
        return None
    grid = np.unique(times[lost])
    deaths = member @ ((times[:, None] == grid) & lost[:, None])
    at_risk = member @ (times[:, None] >= grid)
    drawn = np.random.default_rng(SEED).multinomial(size, np.full(size, 1 / size), RESAMPLES).astype(float)
    medians = np.sort(median(grid, survival(drawn @ deaths, drawn @ at_risk)))
    reach = special.stdtrit(size - 1, (1 + confidence) / 2) * np.sqrt(size / (size - 1))
    tail = special.ndtr(-reach)
    low = max(int(np.ceil(tail * RESAMPLES)), 1)
    return float(medians[low - 1]), float(medians[RESAMPLES - low])


def mean_interval(values: np.ndarray, clusters: Sequence[Hashable], confidence: float) -> tuple[float, float] | None:
    """Student's t on cluster means around the mean of all values; a cluster counts by its number of chains."""
    member = membership(clusters)
    size = len(member)
    if size < 2:
        return None
    centre = values.mean()
    parts = member @ (values - centre) * size / len(values)
    reach = special.stdtrit(size - 1, (1 + confidence) / 2) * parts.std(ddof=1) / np.sqrt(size)
    return float(centre - reach), float(centre + reach)


def share_interval(
    share: float, marks: np.ndarray, clusters: Sequence[Hashable], confidence: float
) -> tuple[float, float] | None:
    """Score limits of a share; the clusters decide how many independent chains the marks (0 or 1) are worth.

    Unlike t on the means it keeps a width where every chain survives. Reference: Wilson, JASA 22 (1927).
    """
    member = membership(clusters)
    size = len(member)
    if size < 2:
        return None
    parts = member @ (marks - marks.mean()) * size / len(marks)
    spread = parts.var(ddof=1)
    worth = np.clip(share * (1 - share) * size / spread, size, len(marks)) if spread > 0 else size
    square = special.stdtrit(size - 1, (1 + confidence) / 2) ** 2
    centre = (share + square / (2 * worth)) / (1 + square / worth)
    reach = np.sqrt(square * (share * (1 - share) / worth + square / (4 * worth**2))) / (1 + square / worth)
    return float(max(centre - reach, 0)), float(min(centre + reach, 1))
