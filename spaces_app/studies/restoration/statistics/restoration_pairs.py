"""Every two methods of restoration on their common pictures: which is better in what, and is that more than chance?"""

from itertools import combinations
from typing import Any

from convergebench.metric_modules.halflife.comparison import judge_together

from ....analysis.analysis import Analysis
from ....analysis.comparisons import verdict_name
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..prompts import choose_prompts, chosen_values
from ..restored import RestoredSet, is_mean, metric_title, restored_sets

TITLE = "Methods of restoration in pairs"
SECTION = "Restoration"
ON_PAGE = OnPage(order=5, part_by="table", line_where="metric", folded=True)
COLUMNS = (
    Column("table", "Table", shown=False),
    Column("metric", "Metric"),
    Column("first", "Method"),
    Column("second", "against"),
    Column("difference", "Better by", "score", interval=True),
    Column("p_value", "p", "p"),
    Column("p_corrected", "p, all pairs of the metric together", "p"),
    Column("verdict", "Better"),
    Column("pictures", "Common pictures", "count"),
    Column("clean", "Clean pictures", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each metric and pair of methods under test that have pictures in common."""
    return [
        {"table": each.name or None, **row}
        for each in analysis.once(restored_sets)
        for row in table_rows(each, analysis)
    ]


def table_rows(each: RestoredSet, analysis: Analysis) -> list[dict[str, Any]]:
    found = []
    methods = [method for method in each.methods if analysis.roles.get(method, "editor") == "editor"]
    choices = {method: choose_prompts(each, method) for method in methods}
    for metric in each.metrics:
        values = {
            method: {name: value for name, value in chosen_values(each, method, choices[method], metric).items()
                     if not is_mean(name)}
            for method in methods
        }  # fmt: skip
        pairs = [each.compare((a, b), metric, values[a], values[b]) for a, b in combinations(methods, 2)]
        for pair in judge_together([pair for pair in pairs if pair.cases]):
            low, high = pair.interval or (None, None)
            found.append(
                {
                    "metric": metric_title(metric),
                    "first": pair.first,
                    "second": pair.second,
                    "difference": pair.difference,
                    "difference_low": low,
                    "difference_high": high,
                    "p_value": pair.p_value,
                    "p_corrected": pair.p_corrected,
                    "verdict": verdict_name(pair),
                    "pictures": pair.cases,
                    "clean": pair.sources,
                }
            )
    return found


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "Positive is better for the first, whatever the metric's direction. Differences are averaged by clean picture, "
        "whose signs the test flips; the pairs of one metric are corrected together. With fewer than 12 clean pictures "
        "a difference is indicative."
    )
