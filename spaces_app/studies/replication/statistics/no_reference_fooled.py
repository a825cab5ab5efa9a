"""Which metric is fooled by which source, and for which editor: Banana100's Figures 6 and 10."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from convergebench.metric_modules.no_reference.ranges import STEPS

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column, rows_of
from ....reporting.figures import SMALL, Drawing, FigureContext, figure_names, new_panels
from ....statistics import OnPage
from . import no_reference_gaps

TITLE = "Which metric is fooled by which source"
SECTION = no_reference_gaps.SECTION
ON_PAGE = OnPage(order=10, part_by="program", line_where="editor")
_MOST_ACROSS = 24  # cells in a row, with a name below each


class Row(TableRow):
    program: str = column("Program", shown=False)
    editor: str = column("Editor")
    metric: str = column("Metric")
    fooled: int = column("Sources that fool it", "count")
    sources: int = column("Pictures", "count")
    fooled_by: str = column("Fooled by")
    gaps_above: int = column("Gaps above 0", "count")
    gaps: int = column("Gaps", "count")
    largest: float = column("Largest gap", "change")


def rows(analysis: Analysis) -> Iterator[Row]:
    """A source fools a metric with a single gap above 0."""
    series: dict[tuple[str, str, str], list[no_reference_gaps.Row]] = defaultdict(list)
    for row in no_reference_gaps.rows(analysis):
        series[row.program, row.editor, row.metric].append(row)
    for (program, editor, metric), gaps in series.items():
        fooled = Counter(row.source for row in gaps if row.gap > 0)
        yield Row(
            program=program,
            editor=editor,
            metric=metric,
            fooled=len(fooled),
            sources=len({row.source for row in gaps}),
            fooled_by=", ".join(f"{name} ({count} of {len(STEPS)})" for name, count in fooled.items()) or "none",
            gaps_above=fooled.total(),
            gaps=len(gaps),
            largest=max(row.gap for row in gaps),
        )


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """A panel for each editor: how many of the gaps are above 0."""
    from matplotlib.colors import LinearSegmentedColormap

    gaps = rows_of(context.tables, no_reference_gaps.Row)
    if not gaps or not context.is_first_group:
        return []
    gaps = [row for row in gaps if row.program == gaps[0].program]
    editors, metrics, sources = (
        list(dict.fromkeys(getattr(row, key) for row in gaps)) for key in ("editor", "metric", "source")
    )
    across = max(min(3, len(editors), _MOST_ACROSS // len(sources)), 1)
    figure, panels = new_panels(len(editors), 0, 1.3 + 0.2 * len(metrics), across, sharey=True, sharex=True)
    names, words = figure_names(editors, across), []
    scale = LinearSegmentedColormap.from_list("fooled", ["#f3f5f8", "#0b4f9e"]).with_extremes(bad="#cdd2d8")
    cells: dict[str, Any] = {"cmap": scale, "vmin": 0, "vmax": 1, "edgecolors": "white", "linewidth": 1}
    for axes, editor in zip(panels, editors, strict=True):
        counts = np.full((len(metrics), len(sources)), np.nan)
        for row in gaps:
            if row.editor == editor:
                cell = metrics.index(row.metric), sources.index(row.source)
                counts[cell] = np.nan_to_num(counts[cell]) + (row.gap > 0)
        axes.pcolormesh(np.ma.masked_invalid(counts / len(STEPS)), **cells)
        axes.set_xticks(np.arange(len(sources)) + 0.5, sources, rotation=90, fontsize=SMALL)
        axes.set_yticks(np.arange(len(metrics)) + 0.5, metrics, fontsize=SMALL)
        axes.set_ylim(len(metrics), 0)
        axes.grid(False)
        axes.set_title(names[editor], fontsize=SMALL)
        never = [metric for metric, line in zip(metrics, counts, strict=True) if np.nansum(line) == 0]
        words.append(f"{editor}: {', '.join(never) or 'no metric'} fooled by no source")
    title = "How many of the gaps at steps 5, 10 and 20 are above 0: white none, dark blue all three"
    return [Drawing("no-reference-fooled", title, "; ".join(words) + ".", figure)]
