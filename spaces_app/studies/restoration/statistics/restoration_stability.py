from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import permutations
from math import factorial

import numpy as np

from ....analysis.analysis import Analysis
from ....analysis.tables import column
from ....statistics import OnPage
from ..restored import MethodRow, RestoredSet, metric_title, prompt_name, rows_by_method

TITLE = "Stability of repeated restorations"
SECTION = "Restoration"
ON_PAGE = OnPage(order=30, part_by="editor", line_where="prompt", folded=True)
_LEVEL = 0.05
_WORK = 200_000_000  # additions the exact distribution may take; beyond it permutations are drawn
_DRAWS = 20_000
_SEED = 0


class Row(MethodRow):
    prompt: str = column("Prompt")
    metric: str = column("Metric")
    statistic: float = column("Friedman's statistic", "score")
    p_value: float = column("p (chi-square)", "p")
    p_exact: float = column("p (all permutations)", "p")
    p_holm: float = column("p (Holm, all tests of the method)", "p", default=1.0)
    runs: int = column("Runs", "count")
    pictures: int = column("Pictures", "count")
    left_out: int = column("Left out: a run is missing", "count")


def _method_rows(table: RestoredSet, method: str) -> list[Row]:
    rows = []
    for prompt in table.prompts(method):
        for metric in table.metrics:
            values = list(table.runs.get((method, prompt, metric, 1), {}).values())
            runs = sorted({run for of_picture in values for run in of_picture})
            # Pictures that were not meant to be repeated have one run; they are not left out.
            repeated = [of_picture for of_picture in values if len(of_picture) > 1]
            complete = [
                [of_picture[run] for run in runs] for of_picture in repeated if len(of_picture) == len(runs)
            ]
            if len(runs) < 2 or len(complete) < 2:
                continue
            statistic, p_value = _friedman(np.array(complete))
            row = Row(
                table=table.name or None,
                editor=method,
                prompt=prompt_name(prompt),
                metric=metric_title(metric),
                statistic=statistic,
                p_value=p_value,
                p_exact=_permutation_p(np.array(complete))[0],
                runs=len(runs),
                pictures=len(complete),
                left_out=len(repeated) - len(complete),
            )
            rows.append(row)
    corrected = _holm([row.p_exact for row in rows])
    return [replace(row, p_holm=p) for row, p in zip(rows, corrected, strict=True)]


rows = partial(rows_by_method, _method_rows)


def _friedman(table: np.ndarray) -> tuple[float, float]:
    """Friedman's statistic, corrected for ties, and its chi-square p; one row per image, one column per run.

    Reference: Friedman, The use of ranks to avoid the assumption of normality implicit in the analysis of variance,
    JASA 32 (1937). Runs that agree in every image have the statistic 0 and p 1.

    >>> statistic, p = _friedman(np.array([[1, 2, 3], [1, 2, 3], [1, 3, 2]]))
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


def _permutation_p(table: np.ndarray) -> tuple[float, bool]:
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


def _holm(p_values: Sequence[float]) -> list[float]:
    """Each p corrected for all of them.

    >>> [round(p, 3) for p in _holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    scaled = np.array(p_values)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(1, np.maximum.accumulate(scaled))
    return corrected.tolist()


def note(analysis: Analysis, rows: list[Row]) -> str:
    below = sum(row.p_value < _LEVEL for row in rows)
    after = sum(row.p_holm < _LEVEL for row in rows)
    return (
        f"{below} of {len(rows)} tests have a chi-square p below {_LEVEL:g}; "
        f"{_LEVEL * len(rows):.1f} would by chance alone if no runs differed. "
        f"After Holm's correction of the exact p, {after} have."
    )
