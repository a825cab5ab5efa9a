"""Edits made and taken back, as the scoring engine judges them: each step from the pictures of its round."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._shared.looks import CELL, DRIFT, FAINT, FAR, MOVED, REACH, SEEDS, SIDE, VISIBLE, Placement, look
from .._shared.scoring import EmbedsMeaning, Program, Signature, Value
from .colours import GREYED, TINTED, TOWARDS, WEAKEST
from .judge import EXPLAINED, LEFT, MEANING_LEFT, NEAR, NOISE, SHARE, SHARE_SMALL, Judgement, cosine, judge_step
from .sharpness import BLURRED, SHARPENED, grey
from .structure import ALIKE, COARSE, CONTRAST, STRANGE, WINDOW, WORN
from .transforms import MARGIN

_NUMBERS = ("undo_ratio", "undo_explained", "part_lost_share", "part_redrawn_share", "part_outline")
COLUMNS = {
    "applied": "edit_applied",
    "region_share": "edit_share",
    "undone": "edit_undone",
    "part_lost": "part_lost",
    **{name: name for name in _NUMBERS},
}


def signature() -> Signature:
    """What a judgement depends on besides the pictures and the words."""
    return {"version": 4, "side": SIDE, "cell": CELL, "reach": REACH, "far": FAR, "moved": MOVED, "drift": DRIFT,
            "visible": VISIBLE, "faint": FAINT, "seeds": SEEDS, "noise": NOISE, "share": SHARE, "small": SHARE_SMALL,
            "left": LEFT, "meaning": MEANING_LEFT, "explained": EXPLAINED, "near": NEAR, "margin": MARGIN,
            "alike": ALIKE, "strange": STRANGE, "contrast": CONTRAST, "coarse": COARSE, "window": WINDOW,
            "blurred": BLURRED, "sharpened": SHARPENED, "weakest": WEAKEST, "greyed": GREYED, "tinted": TINTED,
            "towards": TOWARDS, "worn": WORN}  # fmt: skip


class Reduced(NamedTuple):
    """The reduced form of a picture: its cells, and the grey picture for its sharpness."""

    cells: np.ndarray
    grey: np.ndarray


class KeptPicture(NamedTuple):
    """A reduced picture with its embedding if CLIP is part of the run."""

    cells: np.ndarray
    grey: np.ndarray
    embedding: np.ndarray | None = None


class _Side(NamedTuple):
    """The reference's side: its cells, its grey picture, and its width and height at the evaluation size."""

    cells: np.ndarray
    grey: np.ndarray
    width: int
    height: int


class Scorer:
    """The judge of edits; uses CLIP's embeddings and registration if these metrics are part of the run."""

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, object]):
        self.clip: EmbedsMeaning | None = earlier.get("clip")  # type: ignore[assignment]
        self.signature = signature() | {
            "clip": "yes" if self.clip else "no",
            "registration": "yes" if earlier.get("registration") else "no",
        }
        self.embed_words = lru_cache(maxsize=256)(self.clip.embed_words) if self.clip else None

    def prepare(self, picture: np.ndarray) -> _Side:
        """A chain's reference."""
        return _Side(*self.reduce(picture), picture.shape[1], picture.shape[0])

    def reduce(self, picture: np.ndarray) -> Reduced:
        """The picture's cells, and it in grey."""
        return Reduced(look(picture), grey(picture))

    def embed(self, reduced: Sequence[Reduced], pictures: Sequence[np.ndarray]) -> list[KeptPicture]:
        """The reduced pictures with their embeddings."""
        embeddings = self.clip.embed_pictures(pictures) if self.clip else [None] * len(pictures)
        return [KeptPicture(*picture, embedding) for picture, embedding in zip(reduced, embeddings, strict=True)]

    def judge(
        self,
        program: Program,
        position: int,
        pictures: Sequence[KeptPicture | None],
        reference: _Side,
    ) -> dict[str, Value]:
        """Whether this step made its edit, or took one back, and whether it lost a part of the reference."""
        judged = judge_step(
            program["cycle"],
            program["closes"],
            position,
            [picture and picture.cells for picture in pictures],
            source=reference.cells,
            small=program["small"],
            meaning=self.meaning(pictures, program["shows"]),
            placement=placement(program.get("found", {}), reference),
            greys=[picture and picture.grey for picture in pictures],
            source_grey=reference.grey,
        )
        return {column: _value_of(judged, name) for name, column in COLUMNS.items()}

    def meaning(self, pictures: Sequence[KeptPicture | None], shows: str | None) -> list[float] | None:
        """How near each picture is to the words for what the forward picture shows; None if that is not known."""
        if self.embed_words is None or not shows:
            return None
        words = self.embed_words(shows)
        embeddings = [picture.embedding for picture in pictures if picture and picture.embedding is not None]
        return [cosine(embedding, words) for embedding in embeddings] if len(embeddings) == len(pictures) else None


def placement(scores: Mapping[str, object], reference: _Side) -> Placement | None:
    """The placement of a picture on the reference by an accepted registration; None if there is none."""
    moves = [scores.get(name) for name in ("shift_x", "shift_y", "scale")]
    numbers = [float(move) for move in moves if isinstance(move, float | int)]
    if len(numbers) < len(moves):
        return None
    right, down, scale = numbers
    return Placement(right / reference.width, down / reference.height, scale)


def _value_of(judged: Judgement, name: str) -> Value:
    """Yes or no, a number, the outline, or why there is none."""
    value = getattr(judged, name)
    if value is None:
        return judged.reasons[name]
    return value if name in (*_NUMBERS, "region_share") else bool(value)
