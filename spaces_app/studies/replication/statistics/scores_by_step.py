"""Scores without a reference, step by step: Banana100's Figures 1, 4 and 7 for every metric and program."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from convergebench.metric_modules.no_reference.ranges import COLUMNS, FIRST

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column
from ....palette import MUTED, Look, assign_looks
from ....reporting.figures import SMALL, Drawing, FigureContext, add_legend, new_panels
from ....statistics import OnPage
from .. import series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "Scores without a reference, step by step"
SECTION = series.SECTION
ON_PAGE = OnPage(order=15, show=False)
_DRAWN = ("replicate", "additions")  # categories of the programs that Banana100 draws
_PICTURES, _EDITORS = 12, 5  # panels of a figure, and lines of a panel


class Row(TableRow):
    program: str = column("Program", shown=False)
    category: str = column("Category", shown=False)
    editor: str = column("Editor")
    metric: str = column("Metric")
    source: str = column("Source")
    step: int = column("Step", "count")
    score: float = column("Score", "number")
    lowest: float = column("Lowest run", "number")
    highest: float = column("Highest run", "number")
    runs: int = column("Runs", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    """Runs are averaged; scores are as the metric gives them."""
    chains = {chain.id: chain for chain in analysis.chains if "audit" not in chain.chain.settings}
    values: dict[tuple[str, str, str, str, str, int], list[float]] = defaultdict(list)
    for row in analysis.scores.select(["chain", "step", *COLUMNS]).with_any(COLUMNS):
        if chain := chains.get(row.chain):
            program = chain.program.id, chain.program.category, chain.editor
            for name, metric in COLUMNS.items():
                if (value := row.value(name)) is not None:
                    values[*program, metric.name, chain.source.id, row.step].append(value)
    for (program_id, category, editor, metric_name, source, step), scores in sorted(values.items()):
        yield Row(program=program_id, category=category, editor=editor, metric=metric_name, source=source, step=step,
                  score=fmean(scores), lowest=min(scores), highest=max(scores), runs=len(scores))  # fmt: skip


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """For each metric and program a panel for each picture; what a figure leaves out is in the table."""
    curves: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.category in _DRAWN:
            curves[row.program, row.metric].append(row)
    looks = assign_looks({row.editor for row in rows}, []) | dict(context.looks)
    return [_draw(program, metric, of_figure, looks) for (program, metric), of_figure in curves.items()]


def _draw(program: str, metric: str, rows: Sequence[Row], looks: Mapping[str, Look]) -> Drawing:
    sources = list(dict.fromkeys(row.source for row in rows))[:_PICTURES]
    editors = list(dict.fromkeys(row.editor for row in rows))[:_EDITORS]
    across = min(3, len(sources))
    figure, panels = new_panels(len(sources), 0.7, 1.45, across, sharex=True, sharey=len(sources) > 1)
    for axes, source in zip(panels, sources, strict=True):
        for editor in editors:
            if line := [row for row in rows if (row.source, row.editor) == (source, editor)]:
                _draw_line(axes, line, looks[editor])
        axes.set_title(source, fontsize=SMALL)
    panels[0].set_ylabel(metric)
    panels[-1].set_xlabel("step")
    add_legend(figure, panels[0])
    about = next(about for about in COLUMNS.values() if about.name == metric)
    way = "higher" if about.higher_is_better else "lower"
    title = f"{metric} by step, program {program}; {way} is better, step {FIRST} is dotted"
    name = f"by-step-{program}-{about.column}"
    return Drawing(name, title, f"{len(sources)} pictures, mean of the runs.", figure)


def _draw_line(axes: "Axes", line: Sequence[Row], look: Look) -> None:
    steps = [row.step for row in line]
    axes.plot(steps, [row.score for row in line], **{**look.line, "marker": ""}, label=line[0].editor)
    low, high = [row.lowest for row in line], [row.highest for row in line]
    axes.fill_between(steps, low, high, color=look.colour, alpha=0.15, lw=0)
    if line[0].step == FIRST:
        axes.axhline(line[0].score, color=MUTED, lw=0.8, ls=":")
