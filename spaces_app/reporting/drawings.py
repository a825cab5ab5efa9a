"""Which figures the report has: each from one of its tables, and why one is left out."""

from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.halflife.outcomes import CAUSES

from ..palette import GRID, MUTED, PAPER, SERIES
from ..statistics.curves import NAMES
from ..study.tables import Table, format_value
from .figures import Drawing, Look, blank, key, lines, panels, single, summed_up
from .figures import looks as looks_of

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
    return {name: [row for row in curves if row["slice"] == name and row["metric"] == metric] for name in names}


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
        f"{editor}: "
        + ", ".join(f"{cause} {format_value(rows[editor][cause], 'share')}" for cause in ["kept", *causes])
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
    figure, grid = blank(height=4.2)
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
        f"{editor} goes from {format_value(way[0][0], 'share')} and {format_value(way[0][1], 'share')} to "
        f"{format_value(way[-1][0], 'share')} and {format_value(way[-1][1], 'share')}"
        for editor, way in ways.items()
    ]
    return Drawing(name, f"{words}, from the first round (hollow) to the last", "; ".join(told) + ".", figure)


def sensitivity(table: Table, group: str, looks: Mapping[str, Look]) -> Drawing | None:
    """Mean rounds kept under other thresholds: where lines cross, the order depends on the threshold."""
    rows = [row for row in table.rows if row["group"] == group and row["what"] == "threshold"]
    drawn = {editor: look for editor, look in looks.items() if any(row.get(editor) is not None for row in rows)}
    if not drawn:
        return None
    figure, grid = blank(height=3.2)
    axes, told = grid[0, 0], []
    for editor, look in drawn.items():
        own = [(float(row["setting"]), row[editor]) for row in rows if row.get(editor) is not None]
        axes.plot(*zip(*own, strict=True), color=look.colour, ls=look.dash, lw=look.width, marker=look.marker, ms=5,
                  label=editor, clip_on=False)  # fmt: skip
        told.append(f"{editor} " + ", ".join(f"{kept:.1f} at {level:g}" for level, kept in own))
    axes.set_xticks([float(row["setting"]) for row in rows])
    axes.set_ylim(0)
    axes.set_xlabel("threshold of what has to be retained")
    axes.set_ylabel("rounds kept, mean")
    key(figure, axes)
    return Drawing("sensitivity", "Rounds kept under other thresholds", "; ".join(told) + ".", figure)


GROWN = {"q": "contraction factor q", "exponent": "exponent of MSE in n"}


def growth(table: Table, group: str, looks: Mapping[str, Look]) -> Drawing | None:
    """Contraction factor and growth exponent of every editor with limits; what was not computed has no panel."""
    rows = {row["editor"]: row for row in table.rows if row["group"] == group}
    there = [name for name in GROWN if any(row[name] is not None for row in rows.values())]
    if not there:
        return None
    shown = [editor for editor in looks if any(rows.get(editor, {}).get(name) is not None for name in there)]
    figure, grid = blank(1, len(there), 1.0 + 0.34 * len(shown), sharey=True)
    told = []
    for axes, name in zip(grid[0], there, strict=True):
        for place, editor in enumerate(shown):
            row, look = rows[editor], looks[editor]
            if row[name] is None:
                continue
            axes.plot(row[name], place, marker=look.marker, color=look.colour, ms=7)
            if row[f"{name}_low"] is not None:
                axes.plot([row[f"{name}_low"], row[f"{name}_high"]], [place, place], color=look.colour, lw=1.8)
            told.append(f"{editor}, {GROWN[name]} {format_value(row[name], 'number')}")
        axes.set_yticks(range(len(shown)), shown)
        axes.set_xlabel(GROWN[name])
        axes.axvline(1, color=MUTED.light, lw=0.8, ls=(0, (2, 2)))
    grid[0, 0].set_ylim(len(shown) - 0.5, -0.5)
    return Drawing(
        "growth", "How the error grows: 0 is jitter, 1 a random walk, 2 drift", "; ".join(told) + ".", figure
    )


def published(curves: Table, names: Sequence[str]) -> list[Drawing]:
    """One figure per published table, each metric in its own unit."""
    made = []
    for number, name in enumerate(names, 1):
        rows = [row for row in curves.rows if row["group"] == name]
        own = looks_of(list(dict.fromkeys(row["editor"] for row in rows)), [])
        metrics = list(dict.fromkeys(row["metric"] for row in rows))
        figure, grid = blank(-(-len(metrics) // 2), min(2, len(metrics)), 0.7 + 2.1 * -(-len(metrics) // 2))
        for axes, metric in zip(grid.flat, metrics, strict=False):
            lines(axes, [row for row in rows if row["metric"] == metric], own)
            axes.set_title(NAMES[metric])
        for axes in list(grid.flat)[len(metrics) :]:
            axes.set_visible(False)
        key(figure, grid.flat[0])
        parts = [
            f"{NAMES[each]}: {summed_up([row for row in rows if row['metric'] == each], 'number')}" for each in metrics
        ]
        made.append(Drawing(f"published-{number}", f"Published scores of {name}", " ".join(parts), figure))
    return made


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
    told = [
        f"{row['editor']} keeps {row['rounds_kept']:.1f} rounds at {format_value(row['cost'], 'money')}" for row in rows
    ]
    return Drawing("price", "Rounds kept against the cost of a round", "; ".join(told) + ".", figure)
