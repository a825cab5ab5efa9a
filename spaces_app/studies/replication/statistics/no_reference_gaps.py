"""Banana100's normalised score gaps: steps 5, 10 and 20 against step 1, by metric and source, as its Figure 5."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from convergebench.metric_modules.nr_gap.gaps import FIRST, STEPS, average

from ....analysis.analysis import Analysis
from ....analysis.display_names import display_names
from ....analysis.tables import TableRow, column
from ....reporting.figures import SMALL, Drawing, FigureContext, is_narrow, new_figure
from ....statistics import OnPage
from .. import series
from ..series import by_source, replication_series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "Normalised score gaps"
SECTION = series.SECTION
ON_PAGE = OnPage(order=20, folded=True, part_by="editor", line_where="metric")
NOTE = (
    "Scores are brought to the scale from 0 to 100 by their typical range, higher is better, and step 1 is taken "
    "from a later step. A copy of a copy only gets worse, so a gap above 0 is an error of the metric."
)
MOST_ACROSS = 24  # cells beside each other, with a name below each; half as many have room for a number
_MOST_FIGURES = 6  # editors with a figure of their own; the overlay has them all
# Gaps below 0 are pale, those above 0 blue, as in the study; cells and their words keep their colours in the dark.
_SEES, _FOOLED, _UNKNOWN, _ON_PALE = "#f3f5f8", "#0b4f9e", "#cdd2d8", "#10161f"


class Row(TableRow):
    editor: str = column("Editor", shown=False)
    program: str = column("Program")
    metric: str = column("Metric")
    source: str = column("Source")
    step: int = column("Step", "count")
    gap: float = column(f"Gap to step {FIRST}", "change")
    fooled_runs: int = column("Runs with a gap above 0", "count")
    runs: int = column("Runs", "count")


def rows(analysis: Analysis) -> list[Row]:
    """One row for each editor, program, metric, source and step; runs are averaged."""
    rows = []
    for place, chains in analysis.once(replication_series).items():
        for source, runs in by_source(chains).items():
            for step in STEPS:
                gaps = [run.by_step[step] - run.by_step[FIRST] for run in runs if {step, FIRST} <= run.by_step.keys()]
                if gaps:
                    rows.append(
                        Row(
                            editor=place.editor,
                            program=place.program,
                            metric=place.title,
                            source=source,
                            step=step,
                            gap=average(gaps),
                            fooled_runs=sum(gap > 0 for gap in gaps),
                            runs=len(gaps),
                        )
                    )
    return rows


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """For each editor a heatmap of each step: metrics by sources."""
    if not rows or not context.is_first_group:
        return []
    rows = [row for row in rows if row.program == rows[0].program]
    editors = list(dict.fromkeys(row.editor for row in rows))
    names = display_names(editors)
    return [
        _heatmap([row for row in rows if row.editor == editor], number, names[editor])
        for number, editor in enumerate(editors[:_MOST_FIGURES], 1)
    ]


def _heatmap(rows: Sequence[Row], number: int, editor: str) -> Drawing:
    """One editor's gaps: a panel for each step, a row for each metric, a column for each source."""
    metrics, sources = (list(dict.fromkeys(getattr(row, key) for row in rows)) for key in ("metric", "source"))
    across = len(STEPS) if len(STEPS) * len(sources) <= MOST_ACROSS else 1
    down = len(STEPS) // across
    figure, grid = new_figure(down, across, (1.5 + 0.24 * len(metrics)) * down, sharey=True)
    has_numbers = len(sources) * (2 if is_narrow() else across) <= MOST_ACROSS // 2
    reach = max((abs(row.gap) for row in rows), default=1) or 1
    for axes, step in zip(grid.flat, STEPS, strict=True):
        gaps = np.full((len(metrics), len(sources)), np.nan)
        for row in rows:
            if row.step == step:
                gaps[metrics.index(row.metric), sources.index(row.source)] = row.gap
        shares = gaps / reach
        # A gap just above 0 is to be seen.
        blueness = np.where(shares > 0, 0.15 + 0.85 * shares, np.where(np.isnan(shares), np.nan, 0.0))
        draw_cells(axes, blueness, metrics, sources)
        axes.set_title(f"step {step}")
        for (line, place), gap in np.ndenumerate(gaps):
            if np.isfinite(gap) and has_numbers:
                colour = _SEES if gap / reach > 0.5 else _ON_PALE
                at = place + 0.5, line + 0.5
                axes.text(*at, f"{gap:+.0f}", ha="center", va="center", fontsize=SMALL, color=colour)
    fooled = sum(row.gap > 0 for row in rows)
    words = f"{fooled} of {len(rows)} gaps are above 0 (blue): the metric scores the later, worse picture higher."
    return Drawing(f"no-reference-gaps-{number}", f"{editor}: gaps to step {FIRST}", words, figure)


def draw_cells(axes: "Axes", shares: np.ndarray, metrics: Sequence[str], sources: Sequence[str]) -> None:
    """Cells from pale (0) to blue (1); what is not known is grey."""
    from matplotlib.colors import LinearSegmentedColormap

    scale = LinearSegmentedColormap.from_list("fooled", [_SEES, _FOOLED]).with_extremes(bad=_UNKNOWN)
    axes.pcolormesh(np.ma.masked_invalid(shares), cmap=scale, vmin=0, vmax=1, edgecolors="white", linewidth=1)
    axes.set_xticks(np.arange(len(sources)) + 0.5, sources, rotation=90, fontsize=SMALL)
    axes.set_yticks(np.arange(len(metrics)) + 0.5, metrics, fontsize=SMALL)
    axes.set_xlim(0, len(sources))
    axes.set_ylim(len(metrics), 0)
    axes.grid(False)
