"""Additions step by step: how many there should be and are, how many stay, and what the background has lost."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import mean
from typing import TYPE_CHECKING

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column, format_value
from ....palette import INK, assign_looks
from ....reporting.figures import Drawing, FigureContext, add_legend, new_figure
from ....statistics import OnPage
from ..chains import AdditionChain, addition_chains

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ....palette import Look

TITLE = "Additions, step by step"
SECTION = "Additions"
ON_PAGE = OnPage(order=60, show=False)
_DRAWN = {
    "count": "things counted",
    "stays": "of the things, still there",
    "background": "LPIPS outside the additions",
}


class Row(TableRow):
    program: str = column("Program")
    judged_by: str = column("Judged by")
    editor: str = column("Editor")
    step: int = column("Step", "count")
    count: float | None = column("Counted", "rounds")
    stays: float | None = column("Things there", "share")
    background: float | None = column("Background LPIPS", "number")
    whole: float | None = column("LPIPS", "number")
    chains: int = column("Chains", "count")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each program, judge, editor and step: means over the chains that got so far."""
    groups: dict[tuple[str, str, str], list[AdditionChain]] = defaultdict(list)
    for chain in analysis.once(addition_chains):
        groups[chain.case.program, chain.judge, chain.case.editor].append(chain)
    rows = []
    for (program, judge, editor), chains in sorted(groups.items(), key=lambda item: item[0]):
        for step in range(max(chain.planned for chain in chains) + 1):
            known = {
                "count": [chain.counts[step] - chain.counts.get(0, 0) for chain in chains if step in chain.counts],
                "stays": [len(chain.there[step]) / step for chain in chains if step in chain.there],
                "background": [chain.background[step] for chain in chains if step in chain.background],
                "whole": [chain.whole[step] for chain in chains if step in chain.whole],
            }
            if any(known.values()):
                means = {key: mean(values) if values else None for key, values in known.items()}
                most = max(map(len, known.values()))
                rows.append(Row(program=program, judged_by=judge, editor=editor, step=step, chains=most, **means))
    return rows


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """For each program what was counted, what is there and the background, over the steps."""
    looks = {**assign_looks(list(dict.fromkeys(row.editor for row in rows)), ()), **context.looks}
    drawings = []
    for program in dict.fromkeys(row.program for row in rows):
        of_program = [row for row in rows if row.program == program]
        panels = [key for key in _DRAWN if any(getattr(row, key) is not None for row in of_program)]
        if not panels:
            continue
        figure, grid = new_figure(1, len(panels), 3.0)
        for editor in dict.fromkeys(row.editor for row in of_program):  # all have their name in the one legend
            look = looks[editor]
            grid[0, 0].plot([], [], color=look.colour, ls=look.dash, lw=look.width, label=editor)
        words = [
            line for axes, key in zip(grid[0], panels, strict=True) for line in _draw(axes, key, of_program, looks)
        ]
        add_legend(figure, grid[0, 0])
        drawings.append(Drawing(f"additions-{program}", f"Additions: {program}", "; ".join(words) + ".", figure))
    return drawings


def _draw(axes: "Axes", key: str, rows: Sequence[Row], looks: "dict[str, Look]") -> list[str]:
    """One panel; each line's end in words."""
    words = []
    for editor, judge in dict.fromkeys((row.editor, row.judged_by) for row in rows):
        values = {row.step: getattr(row, key) for row in rows if (row.editor, row.judged_by) == (editor, judge)}
        line = [(step, value) for step, value in values.items() if value is not None]
        if line:
            look = looks[editor]
            axes.plot(*zip(*line, strict=True), color=look.colour, ls=look.dash, lw=look.width)
            last, value = line[-1]
            words.append(f"{editor} by {judge}, {_DRAWN[key]}: {format_value(value, 'number')} at step {last}")
    if key == "count":
        last = max(row.step for row in rows)
        axes.plot([0, last], [0, last], color=INK.light, lw=0.8, ls=(0, (2, 2)), label="as asked")
    axes.set_ylim(0, 1.02 if key == "stays" else None)
    axes.set_xlabel("step")
    axes.set_ylabel(_DRAWN[key])
    return words
