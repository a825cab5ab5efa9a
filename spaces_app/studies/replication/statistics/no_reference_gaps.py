"""Banana100's normalised score gaps by metric and source, as in its Figure 5."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from convergebench.metric_modules.no_reference.ranges import FIRST, STEPS

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column
from ....reporting.figures import SMALL, Drawing, FigureContext, figure_names, new_panels
from ....statistics import OnPage
from .. import series

TITLE = "Normalised score gaps"
SECTION = series.SECTION
ON_PAGE = OnPage(order=20, folded=True, part_by="editor", line_where="metric")
NOTE = (
    "Scores are scaled to 0 to 100 by their typical range, higher is better; the gap is a later step's score minus "
    "that of step 1. A copy of a copy only gets worse, so a gap above 0 is an error of the metric."
)
_MOST_ACROSS = 24  # cells in a row, with a name below each
_LARGEST = 30  # of a gap; beyond it the colour is the same


class Row(TableRow):
    editor: str = column("Editor", shown=False)
    program: str = column("Program")
    metric: str = column("Metric")
    source: str = column("Source")
    step: int = column("Step", "count")
    gap: float = column(f"Gap to step {FIRST}", "change")
    fooled_runs: int = column("Runs with a gap above 0", "count")
    runs: int = column("Runs", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    for (editor, program, metric), sources in analysis.once(series.replication_series).items():
        for source, runs in sources.items():
            for step in STEPS:
                gaps = [scores[step] - scores[FIRST] for scores, _ in runs if {step, FIRST} <= scores.keys()]
                if gaps:
                    yield Row(
                        editor=editor,
                        program=program,
                        metric=metric,
                        source=source,
                        step=step,
                        gap=fmean(gaps),
                        fooled_runs=sum(gap > 0 for gap in gaps),
                        runs=len(gaps),
                    )


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """Figure 5: for each editor a panel for each step."""
    drawings: list[Drawing] = []
    for editor in dict.fromkeys(row.editor for row in rows):
        of_editor = [row for row in rows if row.editor == editor and row.program == rows[0].program]
        panels = {f"step {step}": [row for row in of_editor if row.step == step] for step in STEPS}
        figure = heatmaps(panels, lambda gap: gap, ("#b4540a", "#f3f5f8", "#0b4f9e"), (-_LARGEST, _LARGEST))
        title = f"Gaps to step {FIRST} of {editor}: blue above 0, where the metric takes damage for quality"
        name = f"no-reference-gaps-{len(drawings) + 1}"
        drawings.append(Drawing(name, title, f"{len(of_editor)} gaps, from -{_LARGEST} to {_LARGEST}.", figure))
    return drawings


def heatmaps(
    panels: Mapping[str, Sequence[Row]],
    shade: Callable[[float], float],
    colours: Sequence[str],
    ends: tuple[float, float],
) -> Any:
    """Metrics by sources; a cell is the mean shade of its gaps."""
    from matplotlib.colors import LinearSegmentedColormap

    rows = [row for part in panels.values() for row in part]
    metrics, sources = ([*dict.fromkeys(getattr(row, key) for row in rows)] for key in ("metric", "source"))
    across = max(min(3, len(panels), _MOST_ACROSS // len(sources)), 1)
    figure, places = new_panels(len(panels), 0, 1.3 + 0.2 * len(metrics), across, sharey=True, sharex=True)
    scale = LinearSegmentedColormap.from_list("gaps", colours).with_extremes(bad="#cdd2d8")
    names = figure_names(panels, across)
    for axes, (title, part) in zip(places, panels.items(), strict=True):
        values = _mean_shades(part, shade, metrics, sources)
        axes.pcolormesh(values, cmap=scale, vmin=ends[0], vmax=ends[1], edgecolors="white", linewidth=1)
        axes.set_xticks(np.arange(len(sources)) + 0.5, sources, rotation=90, fontsize=SMALL)
        axes.set_yticks(np.arange(len(metrics)) + 0.5, metrics, fontsize=SMALL)
        axes.set_ylim(len(metrics), 0)
        axes.grid(False)
        axes.set_title(names[title], fontsize=SMALL)
    return figure


def _mean_shades(
    rows: Sequence[Row], shade: Callable[[float], float], metrics: list[str], sources: list[str]
) -> np.ma.MaskedArray:
    shades = np.full((len(metrics), len(sources), len(STEPS)), np.nan)
    for row in rows:
        shades[metrics.index(row.metric), sources.index(row.source), STEPS.index(row.step)] = shade(row.gap)
    values = np.ma.masked_invalid(np.nansum(shades, 2) / np.maximum(1, np.isfinite(shades).sum(2)))
    values[np.isnan(shades).all(2)] = np.ma.masked
    return values
