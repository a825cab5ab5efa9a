"""Degradation curves: mean and median per round."""

from collections.abc import Sequence

from ..analysis.analysis import Analysis
from ..analysis.cases import RETAINED, TITLES, panel_title
from ..analysis.round_curves import CurveRow, slice_curves
from ..reporting.figures import Drawing, FigureContext, one_panel, small_panels
from ..studies import study_modules
from . import EACH_GROUP, OnPage

TITLE = "Curves over rounds"
SECTION = EACH_GROUP
ON_PAGE = OnPage(order=20, show=False)
Row = CurveRow
_SLICES = ("category", "kind")
_FEWEST_SOURCES = 2  # slices with fewer are left out


def rows(analysis: Analysis) -> list[CurveRow]:
    """Curves of every group, overall and by category and kind, then those that studies add."""
    rows: list[CurveRow] = []
    for name, group in analysis.groups.items():
        rows += slice_curves(group, analysis.outcomes[name], "all")
        cases = group.all_cases
        for field in _SLICES:
            for value in sorted({getattr(case, field) for case in cases}):
                if len({case.source for case in cases if getattr(case, field) == value}) >= _FEWEST_SOURCES:
                    rows += slice_curves(
                        group,
                        analysis.outcomes[name],
                        f"{field}: {value}",
                        lambda case, field=field, value=value: getattr(case, field) == value,  # type: ignore[misc]
                        ("kept", "quality"),
                    )
    return rows + [row for module in study_modules("curves") for row in module.curves(analysis)]


def figures(rows: Sequence[CurveRow], context: FigureContext) -> list[Drawing | None]:
    """Draw slices only for the first group."""
    looks = context.looks
    overall = [row for row in rows if row.slice == "all"]
    by_metric = {name: [row for row in overall if row.metric == f"retained {name}"] for name in RETAINED}
    panels = {panel_title(name): rows for name, rows in by_metric.items()}
    quality = [row for row in overall if row.metric == "quality"]
    survival = [row for row in overall if row.metric == "kept"]
    drawings = [
        one_panel("curves", quality, looks, "Retained quality, round after round", TITLES["quality"]),
        one_panel("survival", survival, looks, "How many tests survive each round", TITLES["kept"], share=True),
        small_panels("metrics", panels, looks, "Each metric on its own scale; medians dotted", medians=True),
    ]
    if not context.is_first_group:
        return drawings
    slices = dict.fromkeys(row.slice for row in rows if row.slice != "all")
    by_slice = {name: [row for row in rows if row.slice == name and row.metric == "kept"] for name in slices}
    return [
        *drawings,
        small_panels("slices", by_slice, looks, "How many tests survive, by category and kind", share=True),
    ]
