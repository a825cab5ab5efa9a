"""Degradation curves: mean and median per round with bands over sources, on the cases that all editors have."""

from collections.abc import Callable, Mapping
from typing import Any

from ..analysis.analysis import Analysis
from ..analysis.cases import RETAINED, TITLES, Case, panel_title
from ..analysis.round_curves import slice_curves
from ..analysis.tables import Column, format_value
from ..palette import PAPER, Look
from ..reporting.figures import (
    Drawing,
    FigureContext,
    add_legend,
    new_figure,
    one_panel,
    small_panels,
)
from ..studies import study_modules
from . import EACH_GROUP, OnPage, Rows

TITLE = "Curves over rounds"
SECTION = EACH_GROUP
ON_PAGE = OnPage(order=20, show=False)
COLUMNS = (
    Column("group", "Programs"),
    Column("slice", "Slice"),
    Column("editor", "Editor"),
    Column("metric", "Metric"),
    Column("round", "Round", "count"),
    Column("mean", "Mean", "number", interval=True),
    Column("median", "Median", "number"),
    Column("cases", "Cases", "count"),
    Column("sources", "Sources", "count"),
    Column("on", "On which cases"),
)
SLICES = ("category", "kind")
FEWEST_SOURCES = 2  # a slice of fewer is not drawn


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """All curves of all groups, whole and by category and kind; then those of studies."""
    found: list[dict[str, Any]] = []
    for name, group in analysis.groups.items():
        found += slice_curves(group, analysis.outcomes[name], "all")
        cases = [case for own in group.cases.values() for case in own]
        for by in SLICES:
            for value in sorted({getattr(case, by) for case in cases}):
                is_in_slice = has_value(by, value)
                if len({case.source for case in cases if is_in_slice(case)}) >= FEWEST_SOURCES:
                    label = f"{by}: {value}"
                    found += slice_curves(group, analysis.outcomes[name], label, is_in_slice, ("kept", "quality"))
    return found + [row for module in study_modules("curves") for row in module.curves(analysis)]


def has_value(by: str, value: str) -> Callable[[Case], bool]:
    return lambda case: getattr(case, by) == value


def figures(rows: Rows, context: FigureContext) -> list[Drawing | None]:
    """Quality and survival large, every metric small; for the first group also by slice, and one against another."""
    looks = context.looks
    whole = [row for row in rows if row["slice"] == "all"]
    metrics = {panel_title(name): f"retained {name}" for name in RETAINED}
    panels = {title: [row for row in whole if row["metric"] == metric] for title, metric in metrics.items()}
    quality = [row for row in whole if row["metric"] == "quality"]
    kept = [row for row in whole if row["metric"] == "kept"]
    found = [
        one_panel("curves", quality, looks, "Retained quality, round after round", TITLES["quality"]),
        one_panel("survival", kept, looks, "How many tests survive each round", TITLES["kept"], share=True),
        small_panels("metrics", panels, looks, "Each metric on its own scale; medians dotted", medians=True),
    ]
    if not context.is_first_group:
        return found
    slices = dict.fromkeys(row["slice"] for row in rows if row["slice"] != "all")
    by_slice = {name: [row for row in rows if row["slice"] == name and row["metric"] == "kept"] for name in slices}
    return [
        *found,
        small_panels("slices", by_slice, looks, "How many tests survive, by category and kind", share=True),
        one_against_another("plane", whole, looks, "quality", "retained clip", "Quality against meaning"),
        one_against_another("distortion", whole, looks, "retained rmse", "retained lpips", "Pixels against perception"),
    ]


def one_against_another(
    name: str, rows: Rows, looks: Mapping[str, Look], across: str, up: str, title: str
) -> Drawing | None:
    """One metric against another, each editor's way from the first round to the last."""
    ways = {}
    for editor in looks:
        first = {row["round"]: row["mean"] for row in rows if row["editor"] == editor and row["metric"] == across}
        second = {row["round"]: row["mean"] for row in rows if row["editor"] == editor and row["metric"] == up}
        both = [(first[round], second[round]) for round in sorted(first.keys() & second.keys())]
        if both:
            ways[editor] = both
    if not ways:
        return None
    figure, grid = new_figure(height=4.2)
    axes = grid[0, 0]
    for editor, way in ways.items():
        look = looks[editor]
        axes.plot(*zip(*way, strict=True), color=look.colour, ls=look.dash, lw=1.3, label=editor, clip_on=False)
        axes.plot(*way[0], marker=look.marker, color=look.colour, ms=5, mfc=PAPER.light, clip_on=False)
        axes.plot(*way[-1], marker=look.marker, color=look.colour, ms=8, clip_on=False)
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(TITLES[across].partition(" (lowest")[0])
    axes.set_ylabel(TITLES[up])
    add_legend(figure, axes)
    words = [
        f"{editor} goes from {format_value(way[0][0], 'share')} and {format_value(way[0][1], 'share')} to "
        f"{format_value(way[-1][0], 'share')} and {format_value(way[-1][1], 'share')}"
        for editor, way in ways.items()
    ]
    return Drawing(name, f"{title}, from the first round (hollow) to the last", "; ".join(words) + ".", figure)
