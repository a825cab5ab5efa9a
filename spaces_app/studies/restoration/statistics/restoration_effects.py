"""What longer prompts and fidelity words change in a restoration, on the pictures that both sides have."""

from typing import Any

from convergebench.metric_modules.halflife.comparison import judge_together

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..prompts import FAITHFUL, FREE, LONG, SHORT, prompt_group
from ..restored import (
    RestoredSet,
    better_sign,
    each_method,
    is_mean,
    mean_over,
    metric_title,
    needs_clean,
    restored_sets,
)

TITLE = "What prompt length and fidelity words change"
SECTION = "Restoration"
ON_PAGE = OnPage(order=20, part_by="editor", line_where="effect", folded=True)
COLUMNS = (
    Column("table", "Table", shown=False),
    Column("editor", "Method", shown=False),
    Column("effect", "Effect"),
    Column("metric", "Metric"),
    Column("difference", "Better by", "score", interval=True),
    Column("p_value", "p", "p"),
    Column("p_corrected", "p, all metrics of the effect together", "p"),
    Column("pictures", "Pictures", "count"),
    Column("clean", "Clean pictures", "count"),
)
EFFECTS = {
    "long against short": (LONG, SHORT),
    "with fidelity words against without": (FAITHFUL, FREE),
    "with fidelity words, in short prompts": (("SF",), ("S",)),
    "with fidelity words, in long prompts": (("LF",), ("L",)),
    "long against short, without fidelity words": (("L",), ("S",)),
    "long against short, with fidelity words": (("LF",), ("SF",)),
}


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each method, effect and metric; positive differences are better, whatever the metric's direction."""
    return each_method(analysis, method_rows)


def method_rows(each: RestoredSet, method: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for effect, sides in EFFECTS.items():
        prompts = [[one for one in each.prompts(method) if prompt_group(one) in side] for side in sides]
        if not all({prompt_group(one) for one in own} == {*side} for own, side in zip(prompts, sides, strict=True)):
            continue
        pairs = []
        for metric in each.metrics:
            first, second = (mean_over([each.by_picture(method, one, metric) for one in own]) for own in prompts)
            pairs.append(each.compare((metric, effect), metric, first, second))
        for pair in judge_together(pairs):
            low, high = pair.interval or (None, None)
            is_known = not any(is_mean(str(name)) for name in pair.by_source)
            found.append(
                {
                    "effect": effect,
                    "metric": metric_title(pair.first),
                    "needs_clean": needs_clean(pair.first),
                    "difference": pair.difference,
                    "difference_low": low,
                    "difference_high": high,
                    "p_value": pair.p_value if is_known else None,
                    "p_corrected": pair.p_corrected,
                    "pictures": pair.cases if is_known else None,
                    "clean": pair.sources if is_known else None,
                }
            )
    return [row for row in found if row["difference"] is not None]


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    metrics = {metric for restored in analysis.once(restored_sets) for metric in restored.metrics}
    lower = sorted({row["metric"] for row in rows} & {metric_title(name) for name in metrics if better_sign(name) < 0})
    turned = f" ({', '.join(lower)}: by how much lower)" if lower else ""
    return (
        f"Positive is better for every metric{turned}. Sides are compared picture by picture, averaged by clean "
        "picture; p flips the signs of clean pictures. Published means of many pictures allow neither ranges nor p."
    )
