"""A copy with the instruction to denoise beside a plain copy, step by step: does asking for clean pictures help?"""

from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.contraction.growth import mean_over_clusters

from ....analysis.analysis import Analysis
from ....analysis.cases import QUALITIES
from ....analysis.tables import Column, format_value
from ....palette import MUTED
from ....reporting.figures import Drawing, FigureContext, add_legend, new_figure, set_unit_scale
from ....statistics import OnPage, Rows
from . import no_reference_gaps

TITLE = "Copies with and without the instruction to denoise"
SECTION = no_reference_gaps.SECTION
ON_PAGE = OnPage(order=60, part_by="program", line_where="editor")
PLAIN, DENOISE = "replicate", "replicate-denoise"
STEPS = (1, 5, 10, 20, 50, 100)
COLUMNS = (
    Column("program", "Program", shown=False),
    Column("editor", "Editor"),
    Column("step", "Step", "count"),
    Column("plain", "Retained quality, plain", "share"),
    Column("denoise", "With denoising", "share"),
    Column("difference", "Difference", "number", interval=True),
    Column("sources", "Sources", "count"),
)
Qualities = dict[tuple[str, str], dict[str, dict[int, list[float]]]]  # by editor and program: source, step, runs


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row for each editor and step, on the sources that have both; limits are over sources."""
    qualities = qualities_by_step(analysis)
    found = []
    for editor in sorted({editor for editor, program in qualities if program == DENOISE}):
        plain, denoise = qualities.get((editor, PLAIN), {}), qualities[editor, DENOISE]
        for step in STEPS:
            both = sorted(
                source for source in plain.keys() & denoise.keys() if step in plain[source] and step in denoise[source]
            )
            pairs = [(mean(plain[source][step]), mean(denoise[source][step])) for source in both]
            if pairs:
                difference, limits = mean_over_clusters([after - before for before, after in pairs], both, 0.95)
                low, high = limits or (None, None)
                found.append(
                    {
                        "program": "plain and denoise",
                        "editor": editor,
                        "step": step,
                        "plain": mean([before for before, _ in pairs]),
                        "denoise": mean([after for _, after in pairs]),
                        "difference": difference,
                        "difference_low": low,
                        "difference_high": high,
                        "sources": len(both),
                    }
                )
    return found


def qualities_by_step(analysis: Analysis) -> Qualities:
    """The lowest retained quality of every step of both programs."""
    chains = {
        chain.id: chain
        for chain in analysis.chains
        if chain.program.id in (PLAIN, DENOISE) and "audit" not in chain.chain.settings
    }
    found: Qualities = {}
    for row in analysis.scores:
        chain = chains.get(row["chain"])
        values = [row.get(f"retained_{name}") for name in QUALITIES]
        known = [value for value in values if value is not None]
        if chain is not None and known:
            own = found.setdefault((chain.editor, chain.program.id), {}).setdefault(chain.source.id, {})
            own.setdefault(row["step"], []).append(min(known))
    return found


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return "Below 0, the copy that was to be denoised is further from the original than the plain one at the same step."


def figures(rows: Rows, context: FigureContext) -> list[Drawing | None]:
    """Both instructions over the steps, editor by editor: the plain one solid, the other broken."""
    if not rows or not context.is_first_group:
        return []
    figure, grid = new_figure(height=3.2)
    axes, words = grid[0, 0], []
    for editor in dict.fromkeys(row["editor"] for row in rows):
        own = [row for row in rows if row["editor"] == editor]
        colour = context.looks[editor].colour if editor in context.looks else MUTED.light
        draw(axes, own, "plain", colour, "-", editor)
        draw(axes, own, "denoise", colour, "--", None)
        last = own[-1]
        words.append(
            f"{editor} after {last['step']} steps: plain {format_value(last['plain'], 'share')}, "
            f"with denoising {format_value(last['denoise'], 'share')}"
        )
    axes.set_xscale("log")
    axes.set_xticks(STEPS, list(map(str, STEPS)))
    axes.minorticks_off()
    axes.set_xlabel("step")
    axes.set_ylabel("retained quality")
    set_unit_scale(axes)
    add_legend(figure, axes)
    title = "The instruction to denoise (broken) beside the plain one (solid)"
    return [Drawing("denoise", title, "; ".join(words) + ".", figure)]


def draw(axes: Any, rows: Sequence[Mapping[str, Any]], key: str, colour: str, dash: str, label: str | None) -> None:
    axes.plot([row["step"] for row in rows], [row[key] for row in rows], color=colour, ls=dash, marker="o", ms=4,
              label=label)  # fmt: skip
