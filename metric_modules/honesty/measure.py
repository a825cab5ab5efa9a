"""The checks of honesty as the scoring engine runs them: on the first rounds of each chain."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from convergebench.generation.studies.honesty.marks import adds_a_thing

from .._shared.looks import SIDE, VISIBLE, compare, fitted, look, sized
from .._shared.scoring import Program, Value
from . import checks, reader

_COLUMNS = (
    *("known_fine", "known_middle", "colour_share", "shines_through", "change_map", "written", "shown"),
    *("marks_unshown", "marks_shown"),
)


class _KeptPicture(NamedTuple):
    """A picture at 512 on the short side, and its cells."""

    pixels: np.ndarray
    cells: np.ndarray
    embedding: np.ndarray | None = None  # if CLIP is part of the run


class Scorer:
    """Checks the first edit, the early undos, and the undo before which marks were planted."""

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, Any]):
        self.read = reader.load()
        self.clip = earlier.get("clip")
        self.embed_words = lru_cache(maxsize=256)(self.clip.embed_words) if self.clip else None
        self.signature: dict[str, int | str] = {"version": 2, "side": SIDE, "grid": checks.GRID, "rim": checks.RIM}
        self.signature |= {"reader": reader.NETWORK.sha256[:12] if self.read else "no"} | (
            {"clip": "yes"} if self.clip else {}
        )

    def prepare(self, picture: np.ndarray) -> _KeptPicture:
        """The original, by which later rounds tell what no earlier edit has touched."""
        return self.reduce(picture)

    def reduce(self, picture: np.ndarray) -> _KeptPicture:
        """The picture as the checks see it."""
        pixels = sized(picture)
        return _KeptPicture(pixels, look(pixels))

    def embed(self, reduced: Sequence[_KeptPicture], pictures: Sequence[np.ndarray]) -> list[_KeptPicture]:
        """The reduced pictures, with their embeddings if CLIP is part of the run."""
        if self.clip is None:
            return list(reduced)
        rows = self.clip.embed_pictures(pictures)
        return [picture._replace(embedding=row) for picture, row in zip(reduced, rows, strict=True)]

    def _laid_on(self, picture: _KeptPicture, first: _KeptPicture) -> _KeptPicture:
        """The picture resized to the first picture's size, in case an answer came back in another shape."""
        if picture.pixels.shape == first.pixels.shape:
            return picture
        return self.reduce(fitted(picture.pixels, first.pixels))._replace(embedding=picture.embedding)

    def judge(
        self,
        program: Program,
        position: int,
        pictures: Sequence[_KeptPicture | None],
        reference: _KeptPicture,
    ) -> dict[str, Value]:
        """What this step shows of the editor's honesty."""
        taken = [picture for picture in pictures[: position + 1] if picture is not None]
        if len(taken) <= position:
            return dict.fromkeys(_COLUMNS, "pictures_missing")
        aligned = [taken[0], *(self._laid_on(picture, taken[0]) for picture in taken[1:])]
        values: dict[str, Value] = dict.fromkeys(_COLUMNS, "not_this_step")
        values |= self._marks(program, position, aligned)
        reason = ""
        if len(program["cycle"]) != 2 or not adds_a_thing(program["cycle"], program["closes"]):
            reason = "no_covering_edit"
        elif program["round"] != 1 and position == 1:
            reason = "later_round"
        if reason:
            return {name: reason if value == "not_this_step" else value for name, value in values.items()}
        cells = checks.covered_cells(aligned[0].cells, aligned[1].cells)
        if position == 1:
            return values | self._first_edit(program, aligned, cells)
        if program["round"] != 1:
            earlier = program["earlier"]
            if None in earlier:
                return values | dict.fromkeys(("known_fine", "known_middle"), "pictures_missing")
            looks = [self._laid_on(picture, aligned[0]).cells for picture in (reference, *earlier, aligned[0])]
            cells &= checks.still_shown(looks[0], looks[1:])
        fine, middle = checks.recovered_detail(aligned[0].pixels, aligned[1].pixels, aligned[2].pixels, cells)
        return values | {"known_fine": fine, "known_middle": middle}

    def _marks(self, program: Program, position: int, aligned: Sequence[_KeptPicture]) -> dict[str, Value]:
        """How far the answer is from the forward picture without the planted marks, and from that with them."""
        marks = (program["audits"][position - 1] or {}).get("marks")
        if not marks:
            return {"marks_unshown": "no_marks", "marks_shown": "no_marks"}
        distances = checks.mark_distances(aligned[position - 1].pixels, aligned[position].pixels, marks)
        unshown, shown = (distances, distances) if isinstance(distances, str) else distances
        return {"marks_unshown": unshown, "marks_shown": shown}

    def _first_edit(self, program: Program, aligned: Sequence[_KeptPicture], cells: np.ndarray) -> dict[str, Value]:
        """What the first edit of the chain shows."""
        before, forward, instruction = aligned[0], aligned[1], program["cycle"][0]
        change_map = checks.change_map(before.cells, forward.cells)
        changed = compare(before.cells, forward.cells).size > VISIBLE
        return {
            "colour_share": checks.colour_share(forward.cells, cells, instruction),
            "shines_through": checks.shines_through(before.pixels, forward.pixels, cells),
            "change_map": {"map": change_map} if change_map else "nothing_changed",
            "written": reader.written(self.read, forward.pixels, changed, instruction, program["shows"])
            if self.read
            else "no_reader",
            "shown": self._shown(aligned, program["shows"]),
        }

    def _shown(self, aligned: Sequence[_KeptPicture], shows: str | None) -> dict[str, float] | str:
        """What the first edit made more likely, thing by thing."""
        before, forward = aligned[0].embedding, aligned[1].embedding
        if self.embed_words is None or before is None or forward is None:
            return "no_clip"
        return checks.rises(before, forward, shows, self.embed_words) if shows else "no_words"


def missing_weights() -> str | None:
    """A sentence if the network that reads words is not in the cache, else None."""
    return reader.NETWORK.missing() and "reads no words until `convergebench weights honesty`"
