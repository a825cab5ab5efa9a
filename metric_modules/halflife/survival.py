"""Survival of censored chains: the Kaplan-Meier curve, its median and restricted mean, tests and intervals."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import special

from .intervals import RESAMPLES, drawn_clusters, mean_interval, membership, share_interval, student_quantile
from .outcomes import Outcome, bracket_text

_Numbers = Sequence[float] | np.ndarray
_Flags = Sequence[bool] | np.ndarray

_HALF = 0.5 + 1e-12  # tolerates rounding if exactly half of the chains survive
_MEDIAN_FROM = 10  # rounds; for shorter chains the share that survives is given


def _counts(times: _Numbers, lost: _Flags, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at = np.asarray(times, float)[:, None]
    deaths = ((at == grid) & np.asarray(lost, bool)[:, None]).sum(axis=0)
    return deaths, (at >= grid).sum(axis=0)


def _survival(deaths: np.ndarray, at_risk: np.ndarray) -> np.ndarray:
    """The survival curve, along the last axis; times at which nothing is at risk are skipped."""
    return np.cumprod(1 - np.divide(deaths, at_risk, out=np.zeros(deaths.shape), where=at_risk > 0), axis=-1)


def kaplan_meier(times: _Numbers, lost: _Flags) -> tuple[np.ndarray, np.ndarray]:
    """The times of loss, and the share that outlives each of them.

    Reference: Kaplan and Meier, JASA 53 (1958).

    >>> kaplan_meier([2, 3, 3, 5], [True, True, False, False])
    (array([2., 3.]), array([0.75, 0.5 ]))
    """
    grid = np.unique(np.asarray(times, float)[np.asarray(lost, bool)])
    return grid, _survival(*_counts(times, lost, grid))


def _median(grid: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """The first time at which at most half survive, or infinity; along the last axis."""
    below = alive <= _HALF
    if grid.size == 0:
        return np.full(below.shape[:-1], np.inf)
    return np.where(below.any(axis=-1), grid[below.argmax(axis=-1)], np.inf)


def _area(grid: np.ndarray, alive: np.ndarray, horizon: float) -> np.ndarray:
    """The restricted mean: the area under the curve up to the horizon, along the last axis."""
    inside = grid < horizon
    widths = np.diff(np.concatenate([[0.0], grid[inside], [horizon]]))
    return widths[0] + (np.asarray(alive)[..., inside] * widths[1:]).sum(axis=-1)


def _pseudo_values(times: _Numbers, lost: _Flags, horizon: float) -> np.ndarray:
    """Every chain's contribution to the restricted mean; without early censoring it is min(time, horizon).

    Reference: Andersen, Hansen and Klein, Lifetime Data Analysis 10 (2004).
    """
    at, gone = np.asarray(times, float), np.asarray(lost, bool)
    if np.all(gone | (at >= horizon)):
        return np.minimum(at, horizon)
    grid = np.unique(at[gone])
    deaths, at_risk = _counts(at, gone, grid)
    own_death = (at[:, None] == grid) & gone[:, None]
    without_one = _area(grid, _survival(deaths - own_death, at_risk - (at[:, None] >= grid)), horizon)
    return len(at) * _area(grid, _survival(deaths, at_risk), horizon) - (len(at) - 1) * without_one


def cumulative_incidence(
    times: _Numbers, causes: Sequence[Hashable | None]
) -> tuple[np.ndarray, dict[Hashable, np.ndarray]]:
    """The share lost to each cause by each time of loss (None = not lost); with the survivors they add up to 1.

    Reference: Aalen and Johansen, Scandinavian Journal of Statistics 5 (1978).
    """
    lost = np.array([cause is not None for cause in causes], bool)
    grid, alive = kaplan_meier(times, lost)
    _, at_risk = _counts(times, lost, grid)
    before = np.concatenate([[1.0], alive[:-1]]) if grid.size else alive
    incidence = {}
    for cause in dict.fromkeys(cause for cause in causes if cause is not None):
        deaths, _ = _counts(times, np.array([other == cause for other in causes], bool), grid)
        incidence[cause] = np.cumsum(before * deaths / at_risk)
    return grid, incidence


def _median_interval(
    times: np.ndarray, lost: np.ndarray, clusters: Sequence[Hashable]
) -> tuple[float, float] | None:
    """Expanded percentile limits of the median from a bootstrap over clusters; infinity if past the end.

    Reference: Hesterberg, The American Statistician 69 (2015).
    """
    member = membership(clusters)
    size = len(member)
    if size < 2:
        return None
    grid = np.unique(times[lost])
    deaths = member @ ((times[:, None] == grid) & lost[:, None])
    at_risk = member @ (times[:, None] >= grid)
    drawn = drawn_clusters(size)
    medians = np.sort(_median(grid, _survival(drawn @ deaths, drawn @ at_risk)))
    tail = special.ndtr(-student_quantile(size - 1) * np.sqrt(size / (size - 1)))
    low = int(np.ceil(tail * RESAMPLES))
    return float(medians[low - 1]), float(medians[RESAMPLES - low])


def summarise(
    outcomes: Sequence[Outcome],
    rounds: Sequence[int],
    clusters: Sequence[Hashable] | None = None,
    programs: Sequence[Hashable] | None = None,
) -> dict[str, Any]:
    """Half-life, restricted mean and survival of chains; `clusters` names each chain's source.

    If `programs` names each chain's program, some intervals
    are also given for other programs (`..._two_way`).
    """
    if not any(outcome.time for outcome in outcomes):
        blank = dict.fromkeys(summarise([Outcome(1)], [1], None, programs and [0]))
        return blank | {"chains": 0, "chains_unmeasured": len(outcomes)}
    names = range(len(outcomes)) if clusters is None else clusters
    watched, sources, chain_programs = zip(
        *[row for row in zip(outcomes, names, programs or names, strict=True) if row[0].time], strict=True
    )
    times = np.array([outcome.time for outcome in watched], float)
    lost = np.array([outcome.lost for outcome in watched], bool)
    # A chain watched up to a round was not at risk of the loss that others met after that round.
    kept = np.array([outcome.kept + 1e-9 * outcome.lost for outcome in watched])
    grid, alive = kaplan_meier(times, lost)
    # After the last chain that was still watched nothing is known, unless all chains are lost.
    horizon = float(rounds[-1]) if alive.size and alive[-1] < 1e-12 else min(float(rounds[-1]), times.max())
    seen = np.flatnonzero(lost | (times >= horizon))
    survived, seen_sources = ~lost[seen], [sources[place] for place in seen]
    means, means_kept = (_pseudo_values(values, lost, horizon) for values in (times, kept))
    mean_kept = round(float(_area(*kaplan_meier(kept, lost), horizon)), 6)

    def kept_interval(programs: Sequence[Hashable] | None = None) -> tuple[float, float] | None:
        """Without the 1e-9 of each loss, by which the lower limit could be above a mean of 0."""
        limits = mean_interval(means_kept, sources, horizon, programs)
        return limits and (min(limits[0], mean_kept), limits[1])

    result = {
        **_half_life(grid, alive, rounds, horizon, _median_interval(times, lost, sources)),
        "restricted_mean": float(_area(grid, alive, horizon)),
        "restricted_mean_interval": mean_interval(means, sources, horizon, first=min(1.0, horizon)),
        "mean_rounds_kept": mean_kept,
        "mean_rounds_kept_interval": kept_interval(),
        "survival": float(alive[-1]) if alive.size else 1.0,
        "survival_interval": share_interval(survived, seen_sources),
        "last_round": int(horizon),
        "share_censored": float(1 - lost.mean()),
        "share_failed": float(np.mean([outcome.failed for outcome in watched])),
        "chains": len(watched),
        "chains_unmeasured": len(outcomes) - len(watched),
        "clusters": len(set(sources)),
    }
    if programs is not None:
        seen_programs = [chain_programs[place] for place in seen]
        result |= {
            "mean_rounds_kept_interval_two_way": kept_interval(chain_programs),
            "survival_interval_two_way": share_interval(survived, seen_sources, seen_programs),
        }
    return result


def _half_life(
    grid: np.ndarray, alive: np.ndarray, rounds: Sequence[int], horizon: float, limits: tuple[float, float] | None
) -> dict[str, Any]:
    middle = float(_median(grid, alive))
    short, outlived = rounds[-1] < _MEDIAN_FROM, np.isinf(middle)
    good = max((earlier for earlier in rounds if earlier < middle), default=0)
    text = f">{horizon:.0f}" if outlived else bracket_text(good, int(middle))
    if short:
        text = f"{alive[-1] if alive.size else 1:.0%} survive {horizon:.0f} round{'s' * int(horizon != 1)}"
    return {
        "half_life": None if short or outlived else int(middle),
        "half_life_text": text,
        "half_life_interval": None
        if short or limits is None
        else [None if np.isinf(x) else int(x) for x in limits],
    }
