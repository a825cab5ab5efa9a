"""Whether requests for grey give strictly grey pictures: red, green and blue equal in every pixel."""

from collections import defaultdict

import numpy as np
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.edit_applied.cycles import roles
from convergebench.metric_modules.halflife.intervals import mean_over_clusters
from convergebench.metric_modules.scores import ScoreRow

from ....analysis.analysis import Analysis
from ....analysis.stored_rows import with_any
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage

TITLE = "Grey where grey was asked for"
SECTION = "Where editors fail first"
ON_PAGE = OnPage(order=70)
NOTE = "One pixel with unequal channels makes a picture not strictly grey."
_ASKED = ("monochrome", "black and white", "greyscale", "grayscale")  # in the words of a forward instruction


class Row(TableRow):
    editor: str = column("Editor")
    program: str = column("Program")
    instruction: str = column("Instruction")
    strict: Estimate = column("Strictly grey", "share")
    coloured_share: float = column("Pixels with colour, median", "share")
    colour_first: float = column("Colour in round 1, grey levels", "number")
    colour_last: float = column("Colour in the last round", "number")
    steps: int = column("Steps", "count")
    sources: int = column("Pictures", "count")


_GreyStep = tuple[FinishedChain, ScoreRow]


def rows(analysis: Analysis) -> list[Row]:
    """One row for each editor and instruction that asks for grey, if the scores measure colour."""
    chains = {chain.id: chain for chain in analysis.chains if "audit" not in chain.chain.settings}
    steps: dict[tuple[str, str, str], list[_GreyStep]] = defaultdict(list)
    for row in with_any(analysis.scores, ["coloured_share"]):
        if chain := chains.get(row.chain):
            program, place = chain.program, row.position - 1
            instruction = program.cycle[place]
            is_forward = roles(program.cycle, program.closes)[place].kind == "forward"
            if is_forward and any(word in instruction.lower() for word in _ASKED):
                steps[chain.editor, program.id, instruction].append((chain, row))
    return [_row(*place, of_place) for place, of_place in sorted(steps.items(), key=lambda item: item[0])]


def _row(editor: str, program: str, instruction: str, steps: list[_GreyStep]) -> Row:
    """How strictly one editor obeyed; limits are over sources."""
    sources = [chain.source.id for chain, _ in steps]
    shares = [row.value("coloured_share") for _, row in steps]
    strict, limits = mean_over_clusters([float(share == 0) for share in shares], sources, 0.95)
    first, last = min(row.round for _, row in steps), max(row.round for _, row in steps)

    def colour(round: int) -> float:
        return float(np.mean([row.value("colour_left") for _, row in steps if row.round == round]))

    return Row(
        editor=editor,
        program=program,
        instruction=instruction,
        strict=estimate(strict, limits, 0.0, 1.0),
        coloured_share=float(np.median(shares)),
        colour_first=colour(first),
        colour_last=colour(last),
        steps=len(steps),
        sources=len(set(sources)),
    )
