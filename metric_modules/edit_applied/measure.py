"""Edits made and taken back, as the scoring engine judges them: each step from the pictures of its round."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .judge import EXPLAINED, LEFT, MEANING_LEFT, NEAR, NOISE, SHARE, SHARE_SMALL, Judgement, cosine, judge_step
from .looks import CELL, DRIFT, FAINT, FAR, MOVED, REACH, SEEDS, SIDE, VISIBLE, look
from .transforms import MARGIN

NUMBERS = ("undo_ratio", "undo_explained", "part_lost_share")
COLUMNS = {"applied": "edit_applied", "undone": "edit_undone", "part_lost": "part_lost"} | {
    name: name for name in NUMBERS
}


def signature() -> dict[str, Any]:
    """What a judgement depends on besides the pictures and the words."""
    return {"version": 2, "side": SIDE, "cell": CELL, "reach": REACH, "far": FAR, "moved": MOVED, "drift": DRIFT,
            "visible": VISIBLE, "faint": FAINT, "seeds": SEEDS, "noise": NOISE, "share": SHARE, "small": SHARE_SMALL,
            "left": LEFT, "meaning": MEANING_LEFT, "explained": EXPLAINED, "near": NEAR, "margin": MARGIN}  # fmt: skip


class KeptPicture(NamedTuple):
    """What is kept of a picture until its round is judged: its cells, and its CLIP embedding where CLIP is at work."""

    cells: np.ndarray
    embedding: np.ndarray | None = None


class Scorer:
    """The judge; where CLIP is at work, its direction must agree."""

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, Any]):
        self.clip = earlier.get("clip")
        self.signature = signature() | {"clip": "yes" if self.clip else "no"}
        self.embed_words = lru_cache(maxsize=256)(self.clip.embed_words) if self.clip else None

    def release(self) -> None:
        """Let CLIP's weights go."""
        if self.clip:
            self.clip.release()

    def prepare(self, picture: np.ndarray) -> np.ndarray:
        """The cells of a chain's reference."""
        return look(picture)

    def reduce(self, picture: np.ndarray) -> np.ndarray:
        """The picture's cells."""
        return look(picture)

    def embed(self, reduced: Sequence[np.ndarray], pictures: Sequence[np.ndarray]) -> list[KeptPicture]:
        """What is kept of some pictures."""
        embeddings = self.clip.embed_pictures(pictures) if self.clip else [None] * len(pictures)
        return [KeptPicture(*both) for both in zip(reduced, embeddings, strict=True)]

    def judge(
        self,
        program: Mapping[str, Any],
        position: int,
        pictures: Sequence[KeptPicture | None],
        reference: np.ndarray,
    ) -> dict[str, float | bool | str]:
        """Whether this step made its edit, or took one back, and whether it lost a part of the reference."""
        judged = judge_step(
            program["cycle"],
            program["closes"],
            position,
            [picture and picture.cells for picture in pictures],
            source=reference,
            small=program["small"],
            meaning=self.meaning(pictures, program["shows"]),
        )
        return {column: value_of(judged, name) for name, column in COLUMNS.items()}

    def meaning(self, pictures: Sequence[KeptPicture | None], shows: str | None) -> list[float] | None:
        """How near each picture is to the words for what the forward picture shows; None where that cannot be told."""
        if self.embed_words is None or not shows:
            return None
        words = self.embed_words(shows)
        embeddings = [picture.embedding for picture in pictures if picture and picture.embedding is not None]
        return [cosine(one, words) for one in embeddings] if len(embeddings) == len(pictures) else None


def value_of(judged: Judgement, name: str) -> float | bool | str:
    """Yes or no, the ratio, or why there is neither."""
    value = getattr(judged, name)
    if value is None:
        return judged.reasons[name]
    return float(value) if name in NUMBERS else bool(value)
