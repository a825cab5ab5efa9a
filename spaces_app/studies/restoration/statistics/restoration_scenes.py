"""Restoration by kind of scene and by degradation."""

from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..restored import RestoredSet, each_method, mean_over, metric_columns

TITLE = "Restoration by scene and degradation"
SECTION = "Restoration"
CROSSED = "scene and degradation"
COLUMNS = (
    Column("table", "Table", shown=False),
    Column("by", "By", shown=False),
    Column("slice", "Of"),
    Column("editor", "Method"),
)
LAST = (Column("pictures", "Pictures", "count"), Column("clean", "Clean pictures", "count"))


def choose(rows: Rows) -> Rows:
    return [row for row in rows if row["by"] != CROSSED]


ON_PAGE = OnPage(order=40, part_by="by", line_where="slice", folded=True, choose=choose)


def columns(rows: Rows) -> list[Column]:
    return [*COLUMNS, *metric_columns(rows), *LAST]


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each scene, degradation and pair of both, and method; a method's prompts are averaged."""
    found = each_method(analysis, method_rows, with_baselines=True)
    order = list(dict.fromkeys((row["by"], row["slice"]) for row in found))
    kinds = ["scene", "degradation", CROSSED]
    return sorted(found, key=lambda row: (kinds.index(row["by"]), order.index((row["by"], row["slice"]))))


def method_rows(each: RestoredSet, method: str) -> list[dict[str, Any]]:
    slices: dict[tuple[str, str], set[tuple[str, str, str]]] = {}
    for one in each.pictures:
        if one.method == method:
            names = {"scene": one.scene, "degradation": one.degradation}
            if one.scene and one.degradation:
                names[CROSSED] = f"{one.scene}, {one.degradation.replace('-', ' ')}"
            for by, name in names.items():
                if name:
                    own = slices.setdefault((by, name.replace("-", " ")), set())
                    own.add((one.picture, one.scene, one.degradation))
    return [
        {"by": by, "slice": name} | slice_scores(each, method, wanted) for (by, name), wanted in sorted(slices.items())
    ]


def slice_scores(each: RestoredSet, method: str, wanted: set[tuple[str, str, str]]) -> dict[str, Any]:
    """The means over some pictures; published means of a scene or a degradation stand for themselves."""
    part = RestoredSet(
        each.name, [p for p in each.pictures if p.method == method and (p.picture, p.scene, p.degradation) in wanted]
    )
    found: dict[str, Any] = {}
    values = {
        metric: mean_over([part.by_picture(method, prompt, metric) for prompt in part.prompts(method)], every=False)
        for metric in part.metrics
    }
    for metric, own in values.items():
        found |= part.with_limits(metric, own)
    return found | part.counts(values.values())


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "A method's prompts are averaged. A degraded picture without a clean one, such as a real old photograph, has "
        "only the scores that need none. The files hold every scene under every degradation as well."
    )
