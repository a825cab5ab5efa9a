from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ....analysis.analysis import Analysis
from ....analysis.tables import column
from ....statistics import OnPage
from ..friedman import friedman, permutation_p
from ..restored import MethodRow, RestoredSet, metric_title, prompt_name, rows_by_method

TITLE = "Stability of repeated restorations"
SECTION = "Restoration"
ON_PAGE = OnPage(order=30, part_by="editor", line_where="prompt", folded=True)
_LEVEL = 0.05


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
            statistic, p_value = friedman(np.array(complete))
            row = Row(
                table=table.name or None,
                editor=method,
                prompt=prompt_name(prompt),
                metric=metric_title(metric),
                statistic=statistic,
                p_value=p_value,
                p_exact=permutation_p(np.array(complete))[0],
                runs=len(runs),
                pictures=len(complete),
                left_out=len(repeated) - len(complete),
            )
            rows.append(row)
    corrected = _holm([row.p_exact for row in rows])
    return [replace(row, p_holm=p) for row, p in zip(rows, corrected, strict=True)]


rows = partial(rows_by_method, _method_rows)


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
