"""What longer prompts and fidelity words change in a restoration, on the pictures that both sides have."""

from convergebench.metric_modules.halflife.comparison import judge_together

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, column, estimate
from ....statistics import OnPage
from ..prompts import FAITHFUL, FREE, LONG, SHORT, prompt_group
from ..restored import MethodRow, RestoredSet, better_sign, is_mean, mean_over, methods_by_table, metric_title

TITLE = "What prompt length and fidelity words change"
SECTION = "Restoration"
ON_PAGE = OnPage(order=20, part_by="editor", line_where="effect", folded=True)
_EFFECTS = {
    "long against short": (LONG, SHORT),
    "with fidelity words against without": (FAITHFUL, FREE),
    "with fidelity words, in short prompts": (("SF",), ("S",)),
    "with fidelity words, in long prompts": (("LF",), ("L",)),
    "long against short, without fidelity words": (("L",), ("S",)),
    "long against short, with fidelity words": (("LF",), ("SF",)),
}


class Row(MethodRow):
    effect: str = column("Effect")
    metric: str = column("Metric")
    difference: Estimate = column("Gain", "score")
    p_value: float | None = column("p", "p")
    p_corrected: float | None = column("p, corrected for all metrics of the effect", "p")
    pictures: int | None = column("Pictures", "count")
    clean: int | None = column("Clean pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each method, effect and metric; positive differences are better, whatever the metric's direction."""
    return [row for table, method in methods_by_table(analysis) for row in _method_rows(table, method)]


def _method_rows(table: RestoredSet, method: str) -> list[Row]:
    rows = []
    for effect, sides in _EFFECTS.items():
        prompts = [[prompt for prompt in table.prompts(method) if prompt_group(prompt) in side] for side in sides]
        if any(
            {prompt_group(prompt) for prompt in names} != {*side} for names, side in zip(prompts, sides, strict=True)
        ):
            continue  # a group of prompts is missing
        pairs = []
        for metric in table.metrics:
            first, second = (
                mean_over([table.by_picture(method, prompt, metric) for prompt in names]) for names in prompts
            )
            pairs.append(table.compare((metric, effect), metric, first, second))
        for pair in judge_together(pairs):
            if pair.difference is None:
                continue
            of_pictures = not any(is_mean(str(name)) for name in pair.by_source)
            rows.append(
                Row(
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
            )
    return rows


def note(analysis: Analysis, rows: list[Row]) -> str:
    if not rows:
        return ""
    methods = methods_by_table(analysis, with_baselines=True)
    lower = {metric_title(metric) for table, _ in methods for metric in table.metrics if better_sign(metric) < 0}
    turned = sorted(lower & {row.metric for row in rows})
    direction = f" ({', '.join(turned)}: by how much lower)" if turned else ""
    return (
        f"Positive is better for every metric{direction}. Sides are compared picture by picture, averaged by clean "
        "picture; p flips the signs of clean pictures. Published means of many pictures allow neither ranges nor p."
    )
