"""Additions step by step: how many there should be and are, how many stay, and what the background has lost."""

from collections import defaultdict
from collections.abc import Sequence
from math import nan
from statistics import mean

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column, format_value
from ....palette import assign_looks
from ....reporting.figures import Drawing, FigureContext, add_legend, new_figure
from ....statistics import OnPage
from ..chains import AdditionChain, addition_chains

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
        words = []
        for axes, key in zip(grid[0], panels, strict=True):
            for editor, judge in dict.fromkeys((row.editor, row.judged_by) for row in of_program):
                steps = [row for row in of_program if (row.editor, row.judged_by) == (editor, judge)]
                line = [(row.step, value) for row in steps if (value := getattr(row, key)) is not None]
                look = looks[editor]
                # An editor without a value has its name in the one legend all the same.
                axes.plot(*zip(*line or [(0, nan)], strict=True), color=look.colour, ls=look.dash, label=editor)
                if line:
                    last, value = line[-1]
                    words.append(f"{editor} by {judge}, {_DRAWN[key]}: {format_value(value, 'number')} at step {last}")
            axes.set_xlabel("step")
            axes.set_ylabel(_DRAWN[key])
        add_legend(figure, grid[0, 0])
        drawings.append(Drawing(f"additions-{program}", f"Additions: {program}", "; ".join(words) + ".", figure))
    return drawings
