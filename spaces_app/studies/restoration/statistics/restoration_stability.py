from collections.abc import Iterator
from functools import partial

import numpy as np

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column
from ....statistics import OnPage
from ..restored import RestoredSet, metric_title, prompt_name, rows_by_method

TITLE = "Stability of repeated restorations"
SECTION = "Restoration"
ON_PAGE = OnPage(order=30, part_by="editor", line_where="prompt", folded=True)
_LEVEL = 0.05


class Row(TableRow):
    table: str | None = column("Table", shown=False)
    editor: str = column("Method", shown=False)
    prompt: str = column("Prompt")
    metric: str = column("Metric")
    statistic: float = column("Friedman's statistic", "score")
    p_value: float = column("p (chi-square)", "p")
    runs: int = column("Runs", "count")
    pictures: int = column("Pictures", "count")
    left_out: int = column("Left out: a run is missing", "count")


def _method_rows(table: RestoredSet, method: str) -> Iterator[Row]:
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
            yield Row(
                table=table.name or None,
                editor=method,
                prompt=prompt_name(prompt),
                metric=metric_title(metric),
                statistic=statistic,
                p_value=p_value,
                runs=len(runs),
                pictures=len(complete),
                left_out=len(repeated) - len(complete),
            )


rows = partial(rows_by_method, _method_rows)


def _friedman(table: np.ndarray) -> tuple[float, float]:
    """Friedman's statistic, corrected for ties, and its chi-square p; one row per image, one column per run.

    Reference: Friedman, The use of ranks to avoid the assumption of normality implicit in the
    analysis of variance, JASA 32 (1937). Runs that agree in every image have the statistic 0 and p 1.

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


def note(analysis: Analysis, rows: list[Row]) -> str:
    below = sum(row.p_value < _LEVEL for row in rows)
    return (
        f"{below} of {len(rows)} tests have a chi-square p below {_LEVEL:g}; "
        f"{_LEVEL * len(rows):.1f} would by chance alone if no runs differed."
    )
