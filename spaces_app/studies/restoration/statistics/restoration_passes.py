from collections.abc import Iterator
from functools import partial

import numpy as np
from convergebench.metric_modules.halflife.intervals import student_interval

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column, estimate, mean_of
from ....statistics import OnPage
from ..restored import RestoredSet, better_sign, metric_title, rows_by_method

TITLE = "Restoring again"
SECTION = "Restoration"
ON_PAGE = OnPage(order=35, part_by="editor", line_where="metric", folded=True)
_VERDICTS = {
    "undoes": "undoes part of what the first changed",
    "deepens": "continues in the direction of the first",
    "open": "neither clearly undoes nor clearly deepens the first",
}


class Row(TableRow):
    table: str | None = column("Table", shown=False)
    editor: str = column("Method", shown=False)
    metric: str = column("Metric")
    round: int = column("Pass", "count")
    mean: float = column("Mean", "score")
    first: float | None = column("Mean after the first pass", "score", default=None)
    difference: Estimate = column("Gain over the first pass", "score", default=Estimate())
    better: float | None = column("Pictures that became better", "share", default=None)
    direction: Estimate = column("Cosine with the first pass", "signed", default=Estimate())
    size: float | None = column("Size of the change, relative to the first pass", "share", default=None)
    verdict: str | None = column("Effect on the first pass", default=None)
    p_value: float | None = column("p", "p", default=None)
    pictures: int = column("Pictures", "count")
    clean: int = column("Clean pictures", "count")


def _method_rows(table: RestoredSet, method: str) -> Iterator[Row]:
    """A row for each metric and each pass from the second on, averaged over prompts."""
    numbers = sorted({row.round for row in table.pictures if row.method == method and row.round > 1})
    for number in numbers:
        yield from _direction_row(table, method, number)
    for metric in table.metrics:
        passes = {
            number: {
                (prompt, picture): value
                for prompt in table.prompts(method)
                for picture, value in table.by_picture(method, prompt, metric, number).items()
            }
            for number in (1, *numbers)
        }
        for number in numbers:
            first, values = passes[1], passes[number]
            if not (common := [key for key in values if key in first]):
                continue
            pair = table.compare((f"pass {number}", "pass 1"), metric, values, first)
            sign = better_sign(metric)
            yield Row(
                table=table.name or None,
                editor=method,
                metric=metric_title(metric),
                round=number,
                mean=sum(values[key] for key in common) / len(common),
                first=sum(first[key] for key in common) / len(common),
                difference=estimate(pair.difference, pair.interval),
                better=sum(sign * (values[key] - first[key]) > 0 for key in common) / len(common),
                p_value=pair.p_value,
                pictures=len({picture for _, picture in common}),
                clean=pair.sources,
            )


rows = partial(rows_by_method, _method_rows)


def _direction_row(table: RestoredSet, method: str, number: int) -> Iterator[Row]:
    passes = [
        row
        for row in table.pictures
        if row.method == method and row.round == number and row.direction is not None
    ]
    if not passes:
        return
    values = np.array([row.direction for row in passes], float)
    limits = student_interval(values, [row.clean for row in passes])
    low, high = limits or (-1.0, 1.0)
    mean = float(values.mean())
    yield Row(
        table=table.name or None,
        editor=method,
        metric="direction of the change",
        round=number,
        mean=mean,
        direction=estimate(mean, limits, -1.0, 1.0),
        size=mean_of(row.size for row in passes),
        verdict="undoes" if high < 0 else "deepens" if low > 0 else "open",
        pictures=len({row.picture for row in passes}),
        clean=len({row.clean for row in passes}),
    )


def note(analysis: Analysis, rows: list[Row]) -> str:
    sentences = [
        f"Pass {row.round} of {row.editor} {_VERDICTS[row.verdict]} (cosine {row.mean:+.2f})."
        for row in rows
        if row.verdict
    ] or ["To see what a further pass does to the first, run `convergebench score --metrics second_pass`."]
    sentences.append(
        "The restored picture is sent again with the same prompt. "
        "Positive is better; p is from a test that flips the signs of clean pictures."
    )
    return " ".join(sentences)
