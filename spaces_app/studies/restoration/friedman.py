"""Do repeated runs of one editor differ? Friedman's test, from rank sums and from every permutation."""

from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np

_WORK = 200_000_000  # additions the exact distribution may take; beyond it permutations are drawn
_DRAWS = 20_000
_SEED = 0


def friedman(table: np.ndarray) -> tuple[float, float]:
    """Friedman's statistic, corrected for ties, and its chi-square p; one row per image, one column per run.

    Reference: Friedman, The use of ranks to avoid the assumption of normality implicit in the analysis of variance,
    JASA 32 (1937). Runs that agree in every image have the statistic 0 and p 1.

    >>> statistic, p = friedman(np.array([[1, 2, 3], [1, 2, 3], [1, 3, 2]]))
    >>> round(statistic, 3), round(p, 3)
    (4.667, 0.097)
    """
    from scipy import stats  # importing it takes half a second

    ranked = stats.rankdata(table, axis=1)
    images, runs = ranked.shape
    spread = ((ranked - (runs + 1) / 2) ** 2).sum()
    if spread == 0:
        return 0.0, 1.0
    deviations = ranked.sum(axis=0) - images * (runs + 1) / 2
    statistic = float((runs - 1) * (deviations**2).sum() / spread)
    return statistic, float(stats.chi2.sf(statistic, runs - 1))


@lru_cache(maxsize=16)
def _distribution(data: bytes, runs: int) -> np.ndarray:
    """How likely all sums of ranks are: an axis for each run but the last.

    Ranks are whole numbers from 0, so a cell's place is its sums.
    """
    ranked = np.frombuffer(data, np.int64).reshape(-1, runs)
    reach = int(ranked.max(axis=1).sum()) + 1
    cells = np.zeros((reach,) * (runs - 1))
    cells[(0,) * (runs - 1)] = 1.0
    for row in ranked:
        added = np.zeros_like(cells)
        for order in permutations(row):
            target = tuple(slice(step, None) for step in order[:-1])
            added[target] += cells[tuple(slice(None, reach - step) for step in order[:-1])]
        cells = added / factorial(runs)
    cells.flags.writeable = False
    return cells


def permutation_p(table: np.ndarray) -> tuple[float, bool]:
    """The share of permutations with such a statistic, and whether it is exact.

    If the distribution of rank sums is too large, 20,000 seeded permutations.
    """
    from scipy import stats

    ranked = stats.rankdata(table, axis=1)
    ranked = 2 * ranked - 2 if (ranked % 1).any() else ranked - 1  # whole numbers from 0
    observed = (ranked.sum(axis=0) ** 2).sum()
    images, runs = ranked.shape
    if factorial(runs) * images * (ranked.max(axis=1).sum() + 1) ** (runs - 1) <= _WORK:
        rows = np.sort(ranked.astype(np.int64), axis=1)
        cells = _distribution(rows[np.lexsort(rows.T)].tobytes(), runs)
        sums = np.indices(cells.shape)
        squares = (sums**2).sum(axis=0) + (ranked.sum() - sums.sum(axis=0)) ** 2
        return float(cells[squares >= observed - 1e-9].sum()), True
    random = np.random.default_rng(_SEED)
    hits = sum((random.permuted(ranked, axis=1).sum(axis=0) ** 2).sum() >= observed - 1e-9 for _ in range(_DRAWS))
    return (1 + int(hits)) / (1 + _DRAWS), False
