"""Edits made and taken back, as the scoring engine judges them: each step from the pictures of its round."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._shared import looks
from .._shared.looks import SIDE, Placement, look
from .._shared.scoring import Program, Signature, Value
from . import judge, whole_picture
from .judge import Judgement
from .transforms import MARGIN
from .whole_picture import grey

_NUMBERS = ("undo_ratio", "undo_explained", "part_lost_share", "part_redrawn_share", "part_outline")
COLUMNS = {
    "applied": "edit_applied",
    "region_share": "edit_share",
    "undone": "edit_undone",
    "part_lost": "part_lost",
    **{name: name for name in _NUMBERS},
}
# What a judgement depends on besides the pictures and the words.
SIGNATURE: Signature = {
    "version": 4, "side": SIDE, "cell": looks.CELL, "reach": looks.REACH, "far": looks.FAR, "moved": looks.MOVED,
    "drift": looks.DRIFT, "visible": looks.VISIBLE, "faint": looks.FAINT, "seeds": looks.SEEDS, "noise": judge.NOISE,
    "share": judge.SHARE, "small": judge.SHARE_SMALL, "left": judge.LEFT, "meaning": judge.MEANING_LEFT,
    "explained": judge.EXPLAINED, "near": judge.NEAR, "margin": MARGIN, "alike": judge.ALIKE,
    "strange": judge.STRANGE, "contrast": judge.CONTRAST, "coarse": judge.COARSE, "window": judge.WINDOW,
    "blurred": whole_picture.BLURRED, "sharpened": whole_picture.SHARPENED, "weakest": whole_picture.WEAKEST,
    "greyed": whole_picture.GREYED, "tinted": whole_picture.TINTED, "towards": whole_picture.TOWARDS,
    "worn": judge.WORN,
}  # fmt: skip


class KeptPicture(NamedTuple):
    """The reduced form of a picture, with its embedding if CLIP is part of the run."""

    cells: np.ndarray
    grey: np.ndarray  # for its sharpness
    embedding: np.ndarray | None = None


_Reference = tuple[KeptPicture, tuple[int, int]]  # with its width and height at the evaluation size


class Scorer:
    """The judge of edits; uses CLIP's embeddings and registration if these metrics are part of the run."""

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, Any]):
        self.clip = earlier.get("clip")
        self.signature = SIGNATURE | {
            "clip": "yes" if self.clip else "no",
            "registration": "yes" if earlier.get("registration") else "no",
        }
        self.embed_words = lru_cache(maxsize=256)(self.clip.embed_words) if self.clip else None

    def prepare(self, picture: np.ndarray) -> _Reference:
        return self.reduce(picture), (picture.shape[1], picture.shape[0])

    def reduce(self, picture: np.ndarray) -> KeptPicture:
        return KeptPicture(look(picture), grey(picture))

    def embed(self, reduced: Sequence[KeptPicture], pictures: Sequence[np.ndarray]) -> list[KeptPicture]:
        if not self.clip:
            return list(reduced)
        embeddings = self.clip.embed_pictures(pictures)
        return [picture._replace(embedding=row) for picture, row in zip(reduced, embeddings, strict=True)]

    def judge(
        self,
        program: Program,
        position: int,
        pictures: Sequence[KeptPicture | None],
        reference: _Reference,
    ) -> dict[str, Value]:
        source, size = reference
        judged = judge.judge_step(
            program["cycle"],
            program["closes"],
            position,
            [picture and picture.cells for picture in pictures],
            source=source.cells,
            small=program["small"],
            meaning=self._meaning(pictures, program["shows"]),
            placement=_placement(program.get("found", {}), size),
            greys=[picture and picture.grey for picture in pictures],
            source_grey=source.grey,
        )
        return {column: _value_of(judged, name) for name, column in COLUMNS.items()}

    def _meaning(self, pictures: Sequence[KeptPicture | None], shows: str | None) -> list[float] | None:
        """How near each picture is to the words for what the forward picture shows; None if that is not known."""
        if self.embed_words is None or not shows:
            return None
        words = self.embed_words(shows)
        embeddings = [picture.embedding for picture in pictures if picture and picture.embedding is not None]
        return (
            [judge.cosine(embedding, words) for embedding in embeddings] if len(embeddings) == len(pictures) else None
        )


def _placement(scores: Mapping[str, object], size: tuple[int, int]) -> Placement | None:
    """The placement of a picture on the reference by an accepted registration; None if it has not moved."""
    moves = [scores.get(name) for name in ("shift_x", "shift_y", "scale")]
    numbers = [float(move) for move in moves if isinstance(move, float | int)]
    if len(numbers) < len(moves):
        return None
    right, down, scale = numbers[0] / size[0], numbers[1] / size[1], numbers[2]
    has_moved = max(abs(right), abs(down), abs(scale - 1) / 2) >= 0.25 / SIDE  # a quarter of a pixel
    return (right, down, scale) if has_moved else None


def _value_of(judged: Judgement, name: str) -> Value:
    value = getattr(judged, name)
    if value is None:
        return judged.reasons[name]
    return value if name in (*_NUMBERS, "region_share") else bool(value)
