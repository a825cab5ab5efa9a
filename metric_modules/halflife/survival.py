"""Survival analysis of censored chains: the Kaplan-Meier curve, its median, restricted mean and tests."""

from collections.abc import Hashable, Sequence

import numpy as np
from scipy import special

_Numbers = Sequence[float] | np.ndarray
_Flags = Sequence[bool] | np.ndarray

_HALF = 0.5 + 1e-12  # tolerates rounding if exactly half of the chains survive


def _counts(times: _Numbers, lost: _Flags, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at = np.asarray(times, float)[:, None]
    deaths = ((at == grid) & np.asarray(lost, bool)[:, None]).sum(axis=0)
    return deaths, (at >= grid).sum(axis=0)


def survival(deaths: np.ndarray, at_risk: np.ndarray) -> np.ndarray:
    """The survival curve, along the last axis; times at which nothing is at risk are skipped."""
    return np.cumprod(1 - np.divide(deaths, at_risk, out=np.zeros(deaths.shape), where=at_risk > 0), axis=-1)


def kaplan_meier(times: _Numbers, lost: _Flags) -> tuple[np.ndarray, np.ndarray]:
    """The times of loss, and the share that outlives each of them.

    Reference: Kaplan and Meier, Nonparametric estimation from incomplete observations, JASA 53 (1958).

    >>> kaplan_meier([2, 3, 3, 5], [True, True, False, False])
    (array([2., 3.]), array([0.75, 0.5 ]))
    """
    grid = np.unique(np.asarray(times, float)[np.asarray(lost, bool)])
    return grid, survival(*_counts(times, lost, grid))


def median(grid: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """The first time at which at most half survive, along the last axis; infinity if more than half survive."""
    below = alive <= _HALF
    if grid.size == 0:
        return np.full(below.shape[:-1], np.inf)
    return np.where(below.any(axis=-1), grid[below.argmax(axis=-1)], np.inf)


def area(grid: np.ndarray, alive: np.ndarray, horizon: float) -> np.ndarray:
    """The restricted mean: the area under the survival curve from 0 to the horizon, along the last axis."""
    inside = grid < horizon
    widths = np.diff(np.concatenate([[0.0], grid[inside], [horizon]]))
    return widths[0] + (np.asarray(alive)[..., inside] * widths[1:]).sum(axis=-1)


def pseudo_values(times: _Numbers, lost: _Flags, horizon: float) -> np.ndarray:
    """Every chain's contribution to the restricted mean; without early censoring it is min(time, horizon).

    Reference: Andersen, Hansen and Klein, Regression analysis of restricted mean survival time based on
    pseudo-observations, Lifetime Data Analysis 10 (2004).
    """
    at, gone = np.asarray(times, float), np.asarray(lost, bool)
    if np.all(gone | (at >= horizon)):
        return np.minimum(at, horizon)
    grid = np.unique(at[gone])
    deaths, at_risk = _counts(at, gone, grid)
    own_death = (at[:, None] == grid) & gone[:, None]
    without_one = area(grid, survival(deaths - own_death, at_risk - (at[:, None] >= grid)), horizon)
    return len(at) * area(grid, survival(deaths, at_risk), horizon) - (len(at) - 1) * without_one


def log_rank(times: _Numbers, lost: _Flags, other_times: _Numbers, other_lost: _Flags) -> tuple[float, float]:
    """The log-rank test that two groups are lost at one rate: chi-square with one degree of freedom, and its p.

    Descriptive only: it assumes independent chains, and chains of one source are not.
    """
    every_time = np.concatenate([np.asarray(times, float), np.asarray(other_times, float)])
    every_loss = np.concatenate([np.asarray(lost, bool), np.asarray(other_lost, bool)])
    grid = np.unique(every_time[every_loss])
    deaths, at_risk = _counts(every_time, every_loss, grid)
    first_deaths, first_at_risk = _counts(times, lost, grid)
    share = first_at_risk / at_risk
    correction = np.divide(at_risk - deaths, at_risk - 1, out=np.zeros(grid.shape), where=at_risk > 1)
    variance = (deaths * share * (1 - share) * correction).sum()
    if variance == 0:
        return 0.0, 1.0
    statistic = float((first_deaths - deaths * share).sum() ** 2 / variance)
    return statistic, float(special.chdtrc(1, statistic))


def cumulative_incidence(
    times: _Numbers, causes: Sequence[Hashable | None]
) -> tuple[np.ndarray, dict[Hashable, np.ndarray]]:
    """The share lost to each cause by each time of loss (None = not lost); with the survivors they add up to 1.

    Reference: Aalen and Johansen, An empirical transition matrix for non-homogeneous Markov chains,
    Scandinavian Journal of Statistics 5 (1978).
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
