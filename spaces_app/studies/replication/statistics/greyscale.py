from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from convergebench.metric_modules.edit_applied.cycles import roles
from convergebench.metric_modules.halflife.intervals import mean_over_clusters
from convergebench.metric_modules.scores import ScoreRow

from ....analysis.analysis import Analysis
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


def rows(analysis: Analysis) -> Iterator[Row]:
    chains = {chain.id: chain for chain in analysis.chains if "audit" not in chain.chain.settings}
    steps: dict[tuple[str, str, str], list[ScoreRow]] = defaultdict(list)
    for row in analysis.scores.with_any(["coloured_share"]):
        if chain := chains.get(row.chain):
            program, place = chain.program, row.position - 1
            instruction = program.cycle[place]
            is_forward = roles(program.cycle, program.closes)[place].kind == "forward"
            if is_forward and any(word in instruction.lower() for word in _ASKED):
                steps[chain.editor, program.id, instruction].append(row)
    for (editor, program_id, instruction), of_place in sorted(steps.items(), key=lambda item: item[0]):
        place = {"editor": editor, "program": program_id, "instruction": instruction}
        yield _row(place, of_place, [chains[row.chain].source.id for row in of_place])


def _row(place: Mapping[str, str], steps: Sequence[ScoreRow], sources: Sequence[str]) -> Row:
    shares = [row.value("coloured_share") for row in steps]
    colours: dict[int, list[float]] = defaultdict(list)
    for row in steps:
        colours[row.round].append(row.value("colour_left"))
    strict = mean_over_clusters([float(share == 0) for share in shares], sources)
    return Row(
        **place,
        strict=estimate(*strict, 0.0, 1.0),
        coloured_share=float(np.median(shares)),
        colour_first=float(np.mean(colours[min(colours)])),
        colour_last=float(np.mean(colours[max(colours)])),
        steps=len(steps),
        sources=len(set(sources)),
    )
