"""Banana100's normalised score gaps: steps 5, 10 and 20 against step 1, by metric and source, as its Figure 5."""

from typing import Any

import numpy as np
from convergebench.metric_modules.nr_gap.gaps import FIRST, STEPS, average

from ....analysis.analysis import Analysis
from ....analysis.display_names import display_names
from ....analysis.tables import Column
from ....reporting.figures import SMALL, Drawing, FigureContext, is_narrow, new_figure
from ....statistics import OnPage, Rows
from ..series import by_source, replication_series, title_of

TITLE = "Normalised score gaps"
SECTION = "Do scores without a reference see the damage?"
ON_PAGE = OnPage(order=20, folded=True, part_by="editor", line_where="metric")
COLUMNS = (
    Column("editor", "Editor", shown=False),
    Column("program", "Program"),
    Column("metric", "Metric"),
    Column("source", "Source"),
    Column("step", "Step", "count"),
    Column("gap", f"Gap to step {FIRST}", "change"),
    Column("fooled_runs", "Runs with a gap above 0", "count"),
    Column("runs", "Runs", "count"),
)
MOST_FIGURES = 6  # editors with a figure of their own; the overlay has them all
MOST_ACROSS = 24  # cells beside each other, with a name below each; half as many have room for a number
# Gaps below 0 are pale, those above 0 blue, as in the study; cells and their words keep their colours in the dark.
SEES, FOOLED, UNKNOWN, ON_PALE = "#f3f5f8", "#0b4f9e", "#cdd2d8", "#10161f"


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row for each editor, program, metric, source and step; runs are averaged."""
    found = []
    for place, chains in replication_series(analysis).items():
        about = {"editor": place.editor, "program": place.program, "metric": title_of(place.metric)}
        for source, runs in by_source(chains).items():
            for step in STEPS:
                gaps = [one.by_step[step] - one.by_step[FIRST] for one in runs if {step, FIRST} <= one.by_step.keys()]
                if gaps:
                    numbers = {"fooled_runs": sum(gap > 0 for gap in gaps), "runs": len(gaps)}
                    found.append(about | {"source": source, "step": step, "gap": average(gaps)} | numbers)
    return found


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "Scores are brought to the scale from 0 to 100 by their typical range, higher is better, and step 1 is taken "
        "from a later step. A copy of a copy only gets worse, so a gap above 0 is an error of the metric."
    )


def figures(rows: Rows, context: FigureContext) -> list[Drawing | None]:
    """For each editor a heatmap of each step: metrics by sources."""
    if not rows or not context.is_first_group:
        return []
    program = rows[0]["program"]
    editors = list(dict.fromkeys(row["editor"] for row in rows if row["program"] == program))
    names = display_names(editors)
    drawn: list[Drawing | None] = []
    for number, editor in enumerate(editors[:MOST_FIGURES]):
        own = [row for row in rows if row["editor"] == editor and row["program"] == program]
        drawn.append(heatmap(own, f"no-reference-gaps-{number + 1}", f"{names[editor]}: gaps to step {FIRST}"))
    return drawn


def heatmap(rows: Rows, name: str, title: str) -> Drawing:
    """One editor's gaps: a panel for each step, a row for each metric, a column for each source."""
    metrics, sources = (list(dict.fromkeys(row[key] for row in rows)) for key in ("metric", "source"))
    across = len(STEPS) if len(STEPS) * len(sources) <= MOST_ACROSS else 1
    down = len(STEPS) // across
    figure, grid = new_figure(down, across, (1.5 + 0.24 * len(metrics)) * down, sharey=True)
    numbers = len(sources) * (2 if is_narrow() else across) <= MOST_ACROSS // 2
    reach = max((abs(row["gap"]) for row in rows), default=1) or 1
    for axes, step in zip(grid.flat, STEPS, strict=True):
        cells = np.full((len(metrics), len(sources)), np.nan)
        for row in rows:
            if row["step"] == step:
                cells[metrics.index(row["metric"]), sources.index(row["source"])] = row["gap"]
        draw_cells(axes, blueness(cells / reach), metrics, sources)
        axes.set_title(f"step {step}")
        for (row, column), gap in np.ndenumerate(cells):
            if np.isfinite(gap) and numbers:
                dark = gap / reach > 0.5
                axes.text(column + 0.5, row + 0.5, f"{gap:+.0f}", ha="center", va="center", fontsize=SMALL,
                          color=SEES if dark else ON_PALE)  # fmt: skip
    fooled = sum(row["gap"] > 0 for row in rows)
    words = f"{fooled} of {len(rows)} gaps are above 0 (blue): the metric scores the later, worse picture higher."
    return Drawing(name, title, words, figure)


def blueness(shares: np.ndarray) -> np.ndarray:
    """How blue a cell is: not at all up to 0, and to be seen from there on."""
    return np.where(shares > 0, 0.15 + 0.85 * shares, np.where(np.isnan(shares), np.nan, 0.0))


def draw_cells(axes: Any, shares: np.ndarray, metrics: list[str], sources: list[str]) -> None:
    """Cells from pale (0) to blue (1); what is not known is grey."""
    from matplotlib.colors import LinearSegmentedColormap

    scale = LinearSegmentedColormap.from_list("fooled", [SEES, FOOLED]).with_extremes(bad=UNKNOWN)
    axes.pcolormesh(np.ma.masked_invalid(shares), cmap=scale, vmin=0, vmax=1, edgecolors="white", linewidth=1)
    axes.set_xticks(np.arange(len(sources)) + 0.5, sources, rotation=90, fontsize=SMALL)
    axes.set_yticks(np.arange(len(metrics)) + 0.5, metrics, fontsize=SMALL)
    axes.set_xlim(0, len(sources))
    axes.set_ylim(len(metrics), 0)
    axes.grid(False)
