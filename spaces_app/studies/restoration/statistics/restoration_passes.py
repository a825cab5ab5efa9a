"""Restoration iterated: does a second pass undo or deepen what the first one did?"""

from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import student_interval

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..restored import RestoredSet, better_sign, each_method, metric_title

TITLE = "Restoration asked for again"
SECTION = "Restoration"
DIRECTION = "direction of the change"
VERDICTS = {
    "undoes": "undoes part of what the first changed",
    "deepens": "goes on in the direction of the first",
    "open": "neither clearly undoes nor clearly deepens the first",
}
WITHOUT = "`convergebench score --metrics second_pass` adds whether a further pass undoes or deepens the first."
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
    Column("direction", "Cosine with the first pass", "signed", interval=True),
    Column("size", "Size, of the first pass", "share"),
    Column("verdict", "What it does to the first"),
    Column("p_value", "p", "p"),
    Column("pictures", "Pictures", "count"),
    Column("clean", "Clean pictures", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each method, metric and pass from the second; prompts are averaged."""
    return each_method(analysis, method_rows)


def method_rows(each: RestoredSet, method: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    passes = sorted({p.round for p in each.pictures if p.method == method and p.round > 1})
    for number in passes:
        if turned := direction_row(each, method, number):
            found.append(turned)
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
            pair = each.compare((f"pass {number}", "pass 1"), metric, *sides)
            low, high = pair.interval or (None, None)
            gains = [better_sign(metric) * (sides[0][cell] - sides[1][cell]) for cell in common]
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


def direction_row(each: RestoredSet, method: str, number: int) -> dict[str, Any] | None:
    """Where a pass goes: on in the direction of the first, or back."""
    own = [p for p in each.pictures if p.method == method and p.round == number and p.direction is not None]
    if not own:
        return None
    values = np.array([p.direction for p in own], float)
    low, high = student_interval(values, [p.clean for p in own]) or (None, None)
    sizes = [p.size for p in own if p.size is not None]
    mean = float(values.mean())
    return {
        "metric": DIRECTION,
        "round": number,
        "mean": mean,
        "direction": mean,
        "direction_low": None if low is None else max(low, -1.0),
        "direction_high": None if high is None else min(high, 1.0),
        "size": sum(sizes) / len(sizes) if sizes else None,
        "verdict": "undoes" if high is not None and high < 0 else "deepens" if low is not None and low > 0 else "open",
        "pictures": len({p.picture for p in own}),
        "clean": len({p.clean for p in own}),
    }


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    turns = [row for row in rows if row["metric"] == DIRECTION]
    said = " ".join(
        f"Pass {row['round']} of {row['editor']} {VERDICTS[row['verdict']]} (cosine {row['mean']:+.2f})."
        for row in turns
    )
    return (
        (said or WITHOUT)
        + " "
        + (
            "The restored picture is handed in again with the same words. Positive differences are better, whatever "
            "the metric's direction; p flips the signs of clean pictures."
        )
    )
