"""Which metric is fooled by which source, and for which editor: Banana100's Figures 6 and 10."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from convergebench.metric_modules.no_reference.ranges import STEPS

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column, rows_of
from ....reporting.figures import Drawing, FigureContext
from ....statistics import OnPage
from . import no_reference_gaps

TITLE = "Which metric is fooled by which source"
SECTION = no_reference_gaps.SECTION
ON_PAGE = OnPage(order=10, part_by="program", line_where="editor")


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
    gaps = rows_of(context.tables, no_reference_gaps.Row)
    if not gaps:
        return []
    gaps = [row for row in gaps if row.program == gaps[0].program]
    panels, never = defaultdict[str, list[no_reference_gaps.Row]](list), defaultdict[str, list[str]](list)
    for gap in gaps:
        panels[gap.editor].append(gap)
    for row in rows:
        if row.program == gaps[0].program and not row.fooled:
            never[row.editor].append(row.metric)
    words = [f"{editor}: {', '.join(never[editor]) or 'no metric'} fooled by no source" for editor in panels]
    title = "How many of the gaps at steps 5, 10 and 20 are above 0: white none, dark blue all three"
    figure = no_reference_gaps.heatmaps(panels, lambda gap: float(gap > 0), ("#f3f5f8", "#0b4f9e"), (0, 1))
    return [Drawing("no-reference-fooled", title, "; ".join(words) + ".", figure)]
