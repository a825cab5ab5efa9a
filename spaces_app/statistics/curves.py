"""Degradation curves: mean and median per round with bands over sources, on the cases that all editors have."""

from collections.abc import Mapping, Sequence

from ..analysis.analysis import Analysis
from ..analysis.cases import RETAINED, TITLES, panel_title
from ..analysis.round_curves import CurveRow, slice_curves
from ..analysis.tables import format_value
from ..palette import PAPER, Look
from ..reporting.figures import Drawing, FigureContext, add_legend, new_figure, one_panel, small_panels
from ..studies import study_modules
from . import EACH_GROUP, OnPage

TITLE = "Curves over rounds"
SECTION = EACH_GROUP
ON_PAGE = OnPage(order=20, show=False)
Row = CurveRow
_SLICES = ("category", "kind")
_FEWEST_SOURCES = 2  # a slice of fewer is not drawn


def rows(analysis: Analysis) -> list[CurveRow]:
    """The curves of all groups, overall and by category and kind; then those of studies."""
    rows: list[CurveRow] = []
    for name, group in analysis.groups.items():
        rows += slice_curves(group, analysis.outcomes[name], "all")
        cases = [case for editor_cases in group.cases.values() for case in editor_cases]
        for by in _SLICES:
            for value in sorted({getattr(case, by) for case in cases}):
                if len({case.source for case in cases if getattr(case, by) == value}) >= _FEWEST_SOURCES:
                    rows += slice_curves(
                        group,
                        analysis.outcomes[name],
                        f"{by}: {value}",
                        lambda case, by=by, value=value: getattr(case, by) == value,  # type: ignore[misc]
                        ("kept", "quality"),
                    )
    return rows + [row for module in study_modules("curves") for row in module.curves(analysis)]


def figures(rows: Sequence[CurveRow], context: FigureContext) -> list[Drawing | None]:
    """Quality and survival large, every metric small; for the first group also by slice, and one against another."""
    looks = context.looks
    overall = [row for row in rows if row.slice == "all"]
    panels = {panel_title(name): [row for row in overall if row.metric == f"retained {name}"] for name in RETAINED}
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
        _one_against_another("plane", overall, looks, "quality", "retained clip", "Quality against meaning"),
        _one_against_another(
            "distortion", overall, looks, "retained rmse", "retained lpips", "Pixels against perception"
        ),
    ]


def _one_against_another(
    name: str, rows: Sequence[CurveRow], looks: Mapping[str, Look], across: str, up: str, title: str
) -> Drawing | None:
    """One metric against another, each editor's path from the first round to the last."""
    paths = {}
    for editor in looks:
        first = {row.round: row.mean.value for row in rows if row.editor == editor and row.metric == across}
        second = {row.round: row.mean.value for row in rows if row.editor == editor and row.metric == up}
        if path := [(first[round], second[round]) for round in sorted(first.keys() & second.keys())]:
            paths[editor] = path
    if not paths:
        return None
    figure, grid = new_figure(height=4.2)
    axes = grid[0, 0]
    for editor, path in paths.items():
        look = looks[editor]
        axes.plot(*zip(*path, strict=True), color=look.colour, ls=look.dash, lw=1.3, label=editor, clip_on=False)
        axes.plot(*path[0], marker=look.marker, color=look.colour, ms=5, mfc=PAPER.light, clip_on=False)
        axes.plot(*path[-1], marker=look.marker, color=look.colour, ms=8, clip_on=False)
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(TITLES[across].partition(" (lowest")[0])
    axes.set_ylabel(TITLES[up])
    add_legend(figure, axes)
    sentences = [
        f"{editor} goes from {format_value(path[0][0], 'share')} and {format_value(path[0][1], 'share')} to "
        f"{format_value(path[-1][0], 'share')} and {format_value(path[-1][1], 'share')}"
        for editor, path in paths.items()
    ]
    return Drawing(name, f"{title}, from the first round (hollow) to the last", "; ".join(sentences) + ".", figure)
