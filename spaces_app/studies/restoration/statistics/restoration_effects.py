from collections.abc import Iterator
from functools import partial

from convergebench.metric_modules.halflife.comparison import judge_together

from ....analysis.analysis import Analysis
from ....analysis.cases import COLUMNS
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage
from ..restored import RestoredSet, is_mean, mean_over, metric_title, prompt_group, rows_by_method

TITLE = "What prompt length and fidelity words change"
SECTION = "Restoration"
ON_PAGE = OnPage(order=20, part_by="editor", line_where="effect", folded=True)
_EFFECTS = {
    "long against short": (("L", "LF"), ("S", "SF")),
    "with fidelity words against without": (("LF", "SF"), ("L", "S")),
    "with fidelity words, in short prompts": (("SF",), ("S",)),
    "with fidelity words, in long prompts": (("LF",), ("L",)),
    "long against short, without fidelity words": (("L",), ("S",)),
    "long against short, with fidelity words": (("LF",), ("SF",)),
}


class Row(TableRow):
    table: str | None = column("Table", shown=False)
    editor: str = column("Method", shown=False)
    effect: str = column("Effect")
    metric: str = column("Metric")
    difference: Estimate = column("Gain", "score")
    p_value: float | None = column("p", "p")
    p_corrected: float | None = column("p, corrected for all metrics of the effect", "p")
    pictures: int | None = column("Pictures", "count")
    clean: int | None = column("Clean pictures", "count")


def _method_rows(table: RestoredSet, method: str) -> Iterator[Row]:
    groups = {prompt: prompt_group(prompt) for prompt in table.prompts(method)}
    for effect, sides in _EFFECTS.items():
        if not {*sides[0], *sides[1]} <= {*groups.values()}:
            continue
        pairs = []
        for metric in table.metrics:
            first, second = (
                mean_over(
                    [
                        table.by_picture(method, prompt, metric)
                        for prompt, group in groups.items()
                        if group in side
                    ]
                )
                for side in sides
            )
            pairs.append(table.compare((metric, effect), metric, first, second))
        for pair in judge_together(pairs):
            of_pictures = not any(is_mean(str(name)) for name in pair.by_source)
            if pair.difference is not None:
                yield Row(
                    table=table.name or None,
                    editor=method,
                    effect=effect,
                    metric=metric_title(pair.first),
                    difference=estimate(pair.difference, pair.interval),
                    p_value=pair.p_value if of_pictures else None,
                    p_corrected=pair.p_corrected,
                    pictures=pair.cases if of_pictures else None,
                    clean=pair.sources if of_pictures else None,
                )


rows = partial(rows_by_method, _method_rows)


def note(analysis: Analysis, rows: list[Row]) -> str:
    lower = {column.title for column in COLUMNS.values() if column.direction == "lower"} & {
        row.metric for row in rows
    }
    direction = f" ({', '.join(sorted(lower))}: by how much lower)" if lower else ""
    return (
        f"Positive is better for every metric{direction}. Sides are compared picture by picture; "
        "p flips the signs of clean pictures. Published means allow neither ranges nor p."
    )
