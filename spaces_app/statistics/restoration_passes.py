"""Restoration iterated: does a second pass undo or deepen what the first one did?"""

from typing import Any

from ..study.restoration import RestoredSet, each_method, metric_title
from ..study.study import Study
from ..study.tables import Column
from . import OnPage, Rows

TITLE = "Restoration asked for again"
SECTION = "Restoration"
ON_PAGE = OnPage(order=35, part_by="editor", line_where="metric", folded=True)
COLUMNS = (
    Column("table", "Table", shown=False),
    Column("editor", "Method", shown=False),
    Column("metric", "Metric"),
    Column("round", "Pass", "count"),
    Column("mean", "Mean", "score"),
    Column("first", "After the first pass", "score"),
    Column("difference", "Better by than after the first", "score", interval=True),
    Column("better", "Pictures that became better", "share"),
    Column("p_value", "p", "p"),
    Column("pictures", "Pictures", "count"),
    Column("clean", "Clean pictures", "count"),
)


def rows(study: Study) -> list[dict[str, Any]]:
    """A row for each method, metric and pass from the second; prompts are averaged."""
    return each_method(study.restored, method_rows)


def method_rows(each: RestoredSet, method: str) -> list[dict[str, Any]]:
    found = []
    passes = sorted({p.round for p in each.pictures if p.method == method and p.round > 1})
    for metric in each.metrics:
        for number in passes:
            sides = [
                {
                    (prompt, picture): value
                    for prompt in each.prompts(method)
                    for picture, value in each.by_picture(method, prompt, metric, round).items()
                }
                for round in (number, 1)
            ]
            common = sides[0].keys() & sides[1].keys()
            if not common:
                continue
            pair = each.compare_cells((f"pass {number}", "pass 1"), metric, *sides)
            low, high = pair.interval or (None, None)
            gains = [each.gain(metric, sides[0][cell], sides[1][cell]) for cell in common]
            found.append(
                {
                    "metric": metric_title(metric),
                    "round": number,
                    "mean": sum(sides[0][cell] for cell in common) / len(common),
                    "first": sum(sides[1][cell] for cell in common) / len(common),
                    "difference": pair.difference,
                    "difference_low": low,
                    "difference_high": high,
                    "better": sum(gain > 0 for gain in gains) / len(gains),
                    "p_value": pair.p_value,
                    "pictures": len({picture for _, picture in common}),
                    "clean": pair.sources,
                }
            )
    return found


def note(study: Study, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "The restored picture is handed in again with the same words. Positive differences are better, whatever the "
        "metric's direction; p flips the signs of clean pictures."
    )
