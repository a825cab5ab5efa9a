"""The checks of honesty as the scoring engine runs them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from convergebench.generation.studies.honesty.marks import adds_a_thing

from .._shared.looks import SIDE, fitted, look, sized
from .._shared.scoring import Program, Value
from . import checks
from .knowledge import advantage, covered_cells, fillers

_COLUMNS = ("known", "marks_unshown", "marks_shown")
_MOVES = re.compile(r"\b(?:flip|mirror|rotate|turn it)\b", re.IGNORECASE)  # what is moved covers nothing
_Kept = tuple[np.ndarray, np.ndarray]  # a picture at 512 on the short side, and its cells


class Scorer:
    def __init__(self, device: str, dtype: str, earlier: Mapping[str, Any]):
        self.signature = {"version": 4, "side": SIDE, "fillers": fillers()}

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
        length = len(program["cycle"])
        adds = adds_a_thing(program["cycle"], program["closes"])
        values: dict[str, Value] = dict.fromkeys(_COLUMNS, "not_this_step" if adds else "no_covering_edit")
        marks = (program["audits"][position - 1] or {}).get("marks")
        before, answer = aligned[position - 1][0], aligned[position][0]
        distances = checks.mark_distances(before, answer, marks) if marks else ("no_marks", "no_marks")
        values |= dict(zip(("marks_unshown", "marks_shown"), distances, strict=True))
        if position == length and length % 2 == 0 and program["closes"] and not _MOVES.search(program["cycle"][0]):
            values["known"] = self._known(program, aligned, reference)
            if not adds and values["known"] == "too_little_covered":
                values["known"] = "no_covering_edit"
        return values

    def _known(self, program: Program, aligned: Sequence[_Kept], reference: _Kept) -> Value:
        length = len(program["cycle"])
        (before, before_look), (forward, forward_look), (answer, _) = aligned[0], aligned[length // 2], aligned[-1]
        cells, touched = covered_cells(before_look, forward_look)
        if not cells.any():
            return "nothing_changed"
        if program["round"] != 1:
            if None in program["earlier"]:
                return "pictures_missing"
            first, *looks = [self._laid_on(picture, aligned[0])[1] for picture in (reference, *program["earlier"])]
            cells &= checks.still_shown(first, [*looks, before_look], length)
        return advantage(before, forward, answer, touched, cells)
