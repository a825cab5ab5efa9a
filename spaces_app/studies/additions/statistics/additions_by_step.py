"""Additions step by step: how many there should be and are, how many stay, and what the background has lost."""

from statistics import mean
from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.tables import Column, format_value
from ....palette import INK, assign_looks
from ....reporting.figures import Drawing, FigureContext, add_legend, new_figure
from ....statistics import OnPage, Rows
from ..chains import AdditionChain, addition_chains

TITLE = "Additions, step by step"
SECTION = "Additions"
ON_PAGE = OnPage(order=60, show=False)
DRAWN = {"count": "things counted", "stays": "of the things, still there", "background": "LPIPS outside the additions"}
COLUMNS = (
    Column("program", "Program"),
    Column("judged_by", "Judged by"),
    Column("editor", "Editor"),
    Column("step", "Step", "count"),
    Column("count", "Counted", "rounds"),
    Column("stays", "Things there", "share"),
    Column("background", "Background LPIPS", "number"),
    Column("whole", "LPIPS", "number"),
    Column("chains", "Chains", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each program, judge, editor and step: means over the chains that got so far."""
    groups: dict[tuple[str, str, str], list[AdditionChain]] = {}
    for chain in addition_chains(analysis):
        groups.setdefault((chain.case.program, chain.judge, chain.case.editor), []).append(chain)
    found = []
    for (program, judge, editor), chains in sorted(groups.items()):
        for step in range(max(chain.planned for chain in chains) + 1):
            known = {
                "count": [chain.counts[step] - chain.counts.get(0, 0) for chain in chains if step in chain.counts],
                "stays": [len(chain.there[step]) / step for chain in chains if step in chain.there],
                "background": [chain.background[step] for chain in chains if step in chain.background],
                "whole": [chain.whole[step] for chain in chains if step in chain.whole],
            }
            if any(known.values()):
                about = {"program": program, "judged_by": judge, "editor": editor, "step": step}
                means = {key: mean(values) if values else None for key, values in known.items()}
                found.append(about | means | {"chains": max(map(len, known.values()))})
    return found


def figures(rows: Rows, context: FigureContext) -> list[Drawing | None]:
    """For each program what was counted, what is there and the background, over the steps."""
    editors = list(dict.fromkeys(row["editor"] for row in rows))
    looks = {**assign_looks(editors, ()), **context.looks}
    drawn: list[Drawing | None] = []
    for program in dict.fromkeys(row["program"] for row in rows):
        own = [row for row in rows if row["program"] == program]
        panels = {key: label for key, label in DRAWN.items() if any(row[key] is not None for row in own)}
        if not panels:
            continue
        figure, grid = new_figure(1, len(panels), 3.0)
        words = []
        for editor in dict.fromkeys(row["editor"] for row in own):  # all have their name in the one legend
            look = looks[editor]
            grid[0, 0].plot([], [], color=look.colour, ls=look.dash, lw=look.width, label=editor)
        for axes, (key, label) in zip(grid[0], panels.items(), strict=True):
            for editor, judge in dict.fromkeys((row["editor"], row["judged_by"]) for row in own):
                seen = [row for row in own if (row["editor"], row["judged_by"]) == (editor, judge)]
                line = [(row["step"], row[key]) for row in seen if row[key] is not None]
                if line:
                    look = looks[editor]
                    axes.plot(*zip(*line, strict=True), color=look.colour, ls=look.dash, lw=look.width)
                    end = f"{format_value(line[-1][1], 'number')} at step {line[-1][0]}"
                    words.append(f"{editor} by {judge}, {label}: {end}")
            if key == "count":
                last = max(row["step"] for row in own)
                axes.plot([0, last], [0, last], color=INK.light, lw=0.8, ls=(0, (2, 2)), label="as asked")
            axes.set_ylim(0, 1.02 if key == "stays" else None)
            axes.set_xlabel("step")
            axes.set_ylabel(label)
        add_legend(figure, grid[0, 0])
        drawn.append(Drawing(f"additions-{program}", f"Additions: {program}", "; ".join(words) + ".", figure))
    return drawn
