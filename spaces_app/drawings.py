"""Which figures the report has: each from one of its tables, and why one is left out."""

from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.halflife.fates import CAUSES

from .figures import Drawing, Look, blank, key, panels, single
from .palette import GRID, PAPER, SERIES
from .table import Table, written

Rows = Sequence[Mapping[str, Any]]
METRICS = {
    "retained rmse": "pixels (RMSE)",
    "retained ssim": "structure (SSIM)",
    "retained lpips": "perception (LPIPS)",
    "retained clip": "meaning (CLIP)",
}


def of_group(tables: Mapping[str, Table], group: str, looks: Mapping[str, Look], first: bool) -> list[Drawing]:
    """The figures of one group of programs; only the first group has all of them."""
    curves = [row for row in tables["curves"].rows if row["group"] == group]
    mark = "" if first else f"{group.replace(' ', '-')}-"
    whole = [row for row in curves if row["slice"] == "all"]
    parts = {title: [row for row in whole if row["metric"] == metric] for metric, title in METRICS.items()}
    made = [
        single(f"{mark}curves", "quality", curves, looks, "Retained quality, round after round"),
        single(f"{mark}survival", "kept", curves, looks, "How many cases still converge"),
        panels(f"{mark}metrics", parts, looks, "Each metric on its own scale; medians dotted", medians=True),
    ]
    if first:
        made += [
            incidence(tables["causes"], group, looks),
            panels("slices", slices(curves, "kept"), looks, "Cases still converging, by category and kind", share=True),
            plane("plane", whole, looks, "quality", "retained clip", "Quality against meaning"),
            plane("distortion", whole, looks, "retained rmse", "retained lpips", "Pixels against perception"),
            price(tables["leaderboard"], group, looks),
        ]
    return [drawing for drawing in made if drawing]


def slices(curves: Rows, metric: str) -> dict[str, Rows]:
    """The rows of each slice by its name."""
    names = dict.fromkeys(row["slice"] for row in curves if row["slice"] != "all")
    return {
        name.partition(": ")[2]: [row for row in curves if row["slice"] == name and row["metric"] == metric]
        for name in names
    }


def incidence(table: Table, group: str, looks: Mapping[str, Look]) -> Drawing | None:
    """What cases were lost to by the last round, stacked to a whole."""
    rows = {row["editor"]: row for row in table.rows if row["group"] == group}
    shown = [editor for editor in looks if editor in rows]
    causes = [cause for cause in CAUSES if any(rows[editor][cause] for editor in shown)]
    if not shown:
        return None
    figure, grid = blank(height=1.1 + 0.36 * len(shown))
    axes, left = grid[0, 0], [0.0] * len(shown)
    for place, cause in enumerate(["kept", *causes]):
        widths = [rows[editor][cause] for editor in shown]
        colour = GRID.light if cause == "kept" else SERIES[(place - 1) % len(SERIES)].light
        label = "still converging" if cause == "kept" else cause
        axes.barh(shown, widths, left=left, color=colour, label=label, height=0.66, edgecolor=PAPER.light, lw=1.2)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0%", "50%", "100%"])
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("share of cases")
    key(figure, axes, 4)
    told = [
        f"{editor}: " + ", ".join(f"{cause} {written(rows[editor][cause], 'share')}" for cause in ["kept", *causes])
        for editor in shown
    ]
    return Drawing("causes", "What ended convergence", "; ".join(told) + ".", figure)


def plane(name: str, rows: Rows, looks: Mapping[str, Look], across: str, up: str, words: str) -> Drawing | None:
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
    figure, grid = blank(height=4.2, width=5.4)
    axes = grid[0, 0]
    for editor, way in ways.items():
        look = looks[editor]
        axes.plot(*zip(*way, strict=True), color=look.colour, ls=look.dash, lw=1.3, label=editor, clip_on=False)
        axes.plot(*way[0], marker=look.marker, color=look.colour, ms=5, mfc=PAPER.light, clip_on=False)
        axes.plot(*way[-1], marker=look.marker, color=look.colour, ms=8, clip_on=False)
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(METRICS.get(across, "retained quality"))
    axes.set_ylabel(METRICS.get(up, up))
    key(figure, axes, 3)
    told = [
        f"{editor} goes from {written(way[0][0], 'share')} and {written(way[0][1], 'share')} to "
        f"{written(way[-1][0], 'share')} and {written(way[-1][1], 'share')}"
        for editor, way in ways.items()
    ]
    return Drawing(name, f"{words}, from the first round (hollow) to the last", "; ".join(told) + ".", figure)


def price(table: Table, group: str, looks: Mapping[str, Look]) -> Drawing | None:
    """Rounds kept against what a round costs; only editors whose cost is known."""
    rows = [row for row in table.rows if row["group"] == group and row["cost"] is not None]
    if not rows:
        return None
    figure, grid = blank(height=3.4)
    axes = grid[0, 0]
    for row in rows:
        look, middle = looks[row["editor"]], row["rounds_kept"]
        axes.plot(row["cost"], middle, marker=look.marker, color=look.colour, ms=9, ls="", label=row["editor"])
        if row["rounds_kept_low"] is not None:
            axes.plot([row["cost"]] * 2, [row["rounds_kept_low"], row["rounds_kept_high"]], color=look.colour, lw=1.5)
    axes.set_xlim(0)
    axes.set_ylim(0)
    axes.set_xlabel("US dollars a round")
    axes.set_ylabel("rounds kept, mean")
    key(figure, axes)
    told = [f"{row['editor']} keeps {row['rounds_kept']:.1f} rounds at {written(row['cost'], 'money')}" for row in rows]
    return Drawing("price", "Rounds kept against the cost of a round", "; ".join(told) + ".", figure)
