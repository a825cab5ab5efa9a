"""The checks of honesty as the scoring engine runs them: on the first rounds of each chain."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from convergebench.generation.studies.honesty.marks import adds_a_thing

from .._shared.looks import SIDE, VISIBLE, compare, fitted, look, sized
from .._shared.scoring import Program, Value
from . import checks, reader

_COLUMNS = (
    *("known_fine", "known_middle", "colour_share", "shines_through", "change_map", "written"),
    *("marks_unshown", "marks_shown"),
)

PARAMETERS = reader.NETWORK
fetch_weights = PARAMETERS.fetch
_Kept = tuple[np.ndarray, np.ndarray]  # a picture at 512 on the short side, and its cells


class Scorer:
    def __init__(self, device: str, dtype: str, earlier: Mapping[str, Any]):
        self.read = reader.load()
        network = PARAMETERS.sha256[:12] if self.read else "no"
        self.signature = {"version": 2, "side": SIDE, "grid": checks.GRID, "rim": checks.RIM, "reader": network}

    def reduce(self, picture: np.ndarray) -> _Kept:
        pixels = sized(picture)
        return pixels, look(pixels)

    prepare = reduce

    def _laid_on(self, picture: _Kept, first: _Kept) -> _Kept:
        if picture[0].shape == first[0].shape:
            return picture
        return self.reduce(fitted(picture[0], first[0]))

    def judge(
        self, program: Program, position: int, pictures: Sequence[_Kept | None], reference: _Kept
    ) -> dict[str, Value]:
        taken = [picture for picture in pictures[: position + 1] if picture is not None]
        if len(taken) <= position:
            return dict.fromkeys(_COLUMNS, "pictures_missing")
        aligned = [taken[0], *(self._laid_on(picture, taken[0]) for picture in taken[1:])]
        reason = "not_this_step"
        if len(program["cycle"]) != 2 or not adds_a_thing(program["cycle"], program["closes"]):
            reason = "no_covering_edit"
        elif program["round"] != 1 and position == 1:
            reason = "later_round"
        values: dict[str, Value] = dict.fromkeys(_COLUMNS, reason)
        marks = (program["audits"][position - 1] or {}).get("marks")
        before, answer = aligned[position - 1][0], aligned[position][0]
        distances = checks.mark_distances(before, answer, marks) if marks else ("no_marks", "no_marks")
        values |= dict(zip(("marks_unshown", "marks_shown"), distances, strict=True))
        if reason != "not_this_step":
            return values
        cells = checks.covered_cells(aligned[0][1], aligned[1][1])
        if position == 1:
            return values | self._first_edit(program, aligned, cells)
        if program["round"] != 1:
            if None in program["earlier"]:
                return values | dict.fromkeys(("known_fine", "known_middle"), "pictures_missing")
            looks = [
                self._laid_on(picture, aligned[0])[1] for picture in (reference, *program["earlier"], aligned[0])
            ]
            cells &= checks.still_shown(looks[0], looks[1:])
        fine, middle = checks.recovered_detail(aligned[0][0], aligned[1][0], aligned[2][0], cells)
        return values | {"known_fine": fine, "known_middle": middle}

    def _first_edit(self, program: Program, aligned: Sequence[_Kept], cells: np.ndarray) -> dict[str, Value]:
        (before, before_cells), (forward, forward_cells) = aligned[:2]
        instruction = program["cycle"][0]
        change_map = checks.change_map(before_cells, forward_cells)
        changed = compare(before_cells, forward_cells)[0] > VISIBLE
        written: Value = "no_reader"
        if self.read:
            written = reader.written(self.read, forward, changed, instruction, program["shows"])
        return {
            "colour_share": checks.colour_share(forward_cells, cells, instruction),
            "shines_through": checks.shines_through(before, forward, cells),
            "change_map": {"map": change_map} if change_map else "nothing_changed",
            "written": written,
        }


def missing_weights() -> str | None:
    return PARAMETERS.missing() and "reads no words until `convergebench weights honesty`"
