"""Whether repeated runs of one restoration differ by more than chance: Friedman's test, exact p beside it."""

from typing import Any

import numpy as np
from convergebench.metric_modules.stability.friedman import friedman, permutation_p

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..prompts import prompt_name
from ..restored import RestoredSet, each_method, metric_title

TITLE = "Stability of repeated restorations"
SECTION = "Restoration"
ON_PAGE = OnPage(order=30, part_by="editor", line_where="prompt", folded=True)
LEVEL = 0.05
COLUMNS = (
    Column("table", "Table", shown=False),
    Column("editor", "Method", shown=False),
    Column("prompt", "Prompt"),
    Column("metric", "Metric"),
    Column("statistic", "Friedman's statistic", "score"),
    Column("p_value", "p (chi-square)", "p"),
    Column("p_exact", "p (all permutations)", "p"),
    Column("p_holm", "p (all tests of the method, Holm)", "p"),
    Column("runs", "Runs", "count"),
    Column("pictures", "Pictures", "count"),
    Column("left_out", "Left out: a run is missing", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each method, prompt and metric with two or more runs of two or more pictures."""
    return each_method(analysis, method_rows)


def method_rows(each: RestoredSet, method: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for prompt in each.prompts(method):
        for metric in each.metrics:
            own = list(each.runs.get((method, prompt, metric, 1), {}).values())
            runs = sorted({run for values in own for run in values})
            # Of pictures that were meant to be repeated: others have one run.
            repeated = [values for values in own if len(values) > 1]
            whole = [[values[run] for run in runs] for values in repeated if len(values) == len(runs)]
            if len(runs) < 2 or len(whole) < 2:
                continue
            table = np.array(whole)
            statistic, p_value = friedman(table)
            found.append(
                {
                    "prompt": prompt_name(prompt),
                    "metric": metric_title(metric),
                    "statistic": statistic,
                    "p_value": p_value,
                    "p_exact": permutation_p(table)[0],
                    "runs": len(runs),
                    "pictures": len(whole),
                    "left_out": len(repeated) - len(whole),
                }
            )
    for row, corrected in zip(found, holm([row["p_exact"] for row in found]), strict=True):
        row["p_holm"] = corrected
    return found


def holm(p_values: list[float]) -> list[float]:
    """Each p corrected for all of them.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    found, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - rank)))
        found[place] = largest
    return found


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    below = sum(row["p_value"] < LEVEL for row in rows)
    after = sum(row["p_holm"] < LEVEL for row in rows)
    return (
        f"The same picture is restored several times under the same conditions. {below} of {len(rows)} tests have a "
        f"chi-square p below {LEVEL:g}, where {LEVEL * len(rows):.1f} would by chance alone if no runs differed; after "
        f"Holm's correction of the exact p, {after} have. Runs are permuted within each picture, so that pictures of "
        "one clean picture need no special care."
    )
