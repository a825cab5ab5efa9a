"""Banana100's normalised score gaps by metric and source, as in its Figure 5."""

from collections.abc import Iterator
from statistics import fmean

from convergebench.metric_modules.no_reference.ranges import FIRST, STEPS

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column
from ....statistics import OnPage
from .. import series

TITLE = "Normalised score gaps"
SECTION = series.SECTION
ON_PAGE = OnPage(order=20, folded=True, part_by="editor", line_where="metric")
NOTE = (
    "Scores are scaled to 0 to 100 by their typical range, higher is better; the gap is a later step's score minus "
    "that of step 1. A copy of a copy only gets worse, so a gap above 0 is an error of the metric."
)


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
    """Runs are averaged."""
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
