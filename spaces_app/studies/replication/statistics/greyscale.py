"""Is a picture grey that was asked to be? Strictly: red, green and blue are equal in every pixel."""

from typing import Any

import numpy as np
from convergebench.metric_modules.contraction.growth import mean_over_clusters
from convergebench.metric_modules.edit_applied.cycles import roles

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows

TITLE = "Grey where grey was asked for"
SECTION = "Where editors fail first"
ON_PAGE = OnPage(order=70)
ASKED = ("monochrome", "black and white", "greyscale", "grayscale")  # in the words of a forward instruction
COLUMNS = (
    Column("editor", "Editor"),
    Column("program", "Program"),
    Column("instruction", "Asked"),
    Column("strict", "Strictly grey", "share", interval=True),
    Column("coloured_share", "Pixels with colour, median", "share"),
    Column("colour_first", "Colour in round 1, grey levels", "number"),
    Column("colour_last", "Colour in the last round", "number"),
    Column("steps", "Steps", "count"),
    Column("sources", "Sources", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row for each editor and instruction that asks for grey, where the scores measure colour."""
    chains = {chain.id: chain for chain in analysis.chains if "audit" not in chain.chain.settings}
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in analysis.scores:
        chain = chains.get(row["chain"])
        if chain is None or row.get("coloured_share") is None:
            continue
        program, place = chain.program, row["position"] - 1
        asked = program.cycle[place]
        is_forward = roles(program.cycle, program.closes)[place].kind == "forward"
        if is_forward and any(word in asked.lower() for word in ASKED):
            found.setdefault((chain.editor, chain.program.id, asked), []).append(
                {**row.values, "source": chain.source.id}
            )
    return [
        {"editor": editor, "program": program, "instruction": asked} | grey_row(steps)
        for (editor, program, asked), steps in sorted(found.items())
    ]


def grey_row(steps: Rows) -> dict[str, Any]:
    """How strictly one editor obeyed; limits are over sources."""
    strict = [float(row["coloured_share"] == 0) for row in steps]
    sources = [row["source"] for row in steps]
    centre, limits = mean_over_clusters(strict, sources, 0.95)
    low, high = limits or (None, None)
    ends = min(row["round"] for row in steps), max(row["round"] for row in steps)
    colour = [float(np.mean([row["colour_left"] for row in steps if row["round"] == end])) for end in ends]
    return {
        "strict": centre,
        "strict_low": None if low is None else max(low, 0.0),
        "strict_high": None if high is None else min(high, 1.0),
        "coloured_share": float(np.median([row["coloured_share"] for row in steps])),
        "colour_first": colour[0],
        "colour_last": colour[1],
        "steps": len(steps),
        "sources": len(set(sources)),
    }


def note(analysis: Analysis, rows: Rows) -> str:
    return "One pixel with unequal channels makes a picture not strictly grey." if rows else ""
