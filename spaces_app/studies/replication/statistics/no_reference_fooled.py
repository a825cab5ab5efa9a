"""Which metric is fooled by which source, and for which editor: Banana100's Figures 6 and 10."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from convergebench.metric_modules.nr_gap.gaps import STEPS

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....reporting.figures import SMALL, Drawing, FigureContext, figure_names, new_figure
from ....statistics import OnPage, Rows
from . import no_reference_gaps
from .no_reference_gaps import MOST_ACROSS, draw_cells

TITLE = "Which metric is fooled by which source"
SECTION = no_reference_gaps.SECTION
ON_PAGE = OnPage(order=10, part_by="program", line_where="editor")
COLUMNS = (
    Column("program", "Program", shown=False),
    Column("editor", "Editor"),
    Column("metric", "Metric"),
    Column("fooled", "Sources that fool it", "count"),
    Column("sources", "Sources", "count"),
    Column("fooled_by", "Fooled by"),
    Column("gaps_above", "Gaps above 0", "count"),
    Column("gaps", "Gaps", "count"),
    Column("largest", "Largest gap", "change"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row for each metric, editor and program: a source fools it with a single gap above 0."""
    found = []
    for (program, editor, metric), own in by_metric(no_reference_gaps.rows(analysis)).items():
        sources = {row["source"] for row in own}
        fooled = count_failures(own)
        named = ", ".join(f"{source} ({count} of {len(STEPS)})" for source, count in fooled.items())
        found.append(
            {
                "program": program,
                "editor": editor,
                "metric": metric,
                "fooled": len(fooled),
                "sources": len(sources),
                "fooled_by": named or "none",
                "gaps_above": sum(fooled.values()),
                "gaps": len(own),
                "largest": max(row["gap"] for row in own),
            }
        )
    return found


def by_metric(gaps: Rows) -> dict[tuple[str, str, str], list[Mapping[str, Any]]]:
    """The gaps of each program, editor and metric."""
    found: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in gaps:
        found.setdefault((row["program"], row["editor"], row["metric"]), []).append(row)
    return found


def count_failures(gaps: Rows) -> dict[str, int]:
    """How many of the gaps are above 0, for each source that has one."""
    counts = dict.fromkeys(dict.fromkeys(row["source"] for row in gaps), 0)
    for row in gaps:
        counts[row["source"]] += row["gap"] > 0
    return {source: count for source, count in counts.items() if count}


def figures(rows: Rows, context: FigureContext) -> list[Drawing | None]:
    """A panel for each editor: how many of the three gaps of a metric and a source are above 0."""
    gaps = context.tables["no_reference_gaps"].rows
    if not gaps or not context.is_first_group:
        return []
    program = gaps[0]["program"]
    gaps = [row for row in gaps if row["program"] == program]
    editors, metrics, sources = (
        list(dict.fromkeys(row[key] for row in gaps)) for key in ("editor", "metric", "source")
    )
    across = max(min(3, len(editors), MOST_ACROSS // len(sources)), 1)
    down = -(-len(editors) // across)
    figure, grid = new_figure(down, across, (1.3 + 0.2 * len(metrics)) * down, sharey=True, sharex=True)
    names, words = figure_names(editors, across), []
    for axes, editor in zip(grid.flat, editors, strict=False):
        counts = np.full((len(metrics), len(sources)), np.nan)
        for row in gaps:
            if row["editor"] == editor:
                cell = metrics.index(row["metric"]), sources.index(row["source"])
                counts[cell] = np.nan_to_num(counts[cell]) + (row["gap"] > 0)
        draw_cells(axes, counts / len(STEPS), metrics, sources)
        axes.set_title(names[editor], fontsize=SMALL)
        whole = [metric for metric, line in zip(metrics, counts, strict=True) if np.nansum(line) == 0]
        words.append(f"{editor}: {', '.join(whole) or 'no metric'} fooled by no source")
    for axes in list(grid.flat)[len(editors) :]:
        axes.set_visible(False)
    title = "How many of the gaps at steps 5, 10 and 20 are above 0: white none, dark blue all three"
    return [Drawing("no-reference-fooled", title, "; ".join(words) + ".", figure)]
