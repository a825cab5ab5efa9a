"""Edits made and taken back, as the scoring engine judges them: each step from the pictures of its round."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from .._shared import looks
from .._shared.scoring import Program, Signature, Value
from ..registration.align import recorded
from . import judge, whole_picture

COLUMNS = {
    "changed": "edit_changed",
    "as_asked": "edit_as_asked",
    "asked_by": "asked_by",
    "region_share": "edit_share",
    "undone": "edit_undone",
    **{name: name for name in ("undo_ratio", "undo_explained", "colour_shift")},
}
_VERDICTS = ("changed", "as_asked", "undone")


def _limits(module: ModuleType, names: str) -> Signature:
    return {name: getattr(module, name.upper()) for name in names.split()}


SIGNATURE: Signature = {
    "version": 6,
    **_limits(looks, "side cell reach far moved drift visible faint seeds"),
    "share": judge.SHARE,
    "small": judge.SHARE_SMALL,
    "left": judge.LEFT,
    **_limits(judge, "explained near"),
    "margin": whole_picture.MARGIN,
    **_limits(whole_picture, "blurred sharpened weakest greyed tinted towards"),
}
_Kept = tuple[looks.Seen, np.ndarray | None]  # a picture, and its embedding if CLIP is part of the run
_Reference = tuple[looks.Seen, tuple[int, ...]]  # with its height and width at the evaluation size


class Scorer:
    def __init__(self, device: str, dtype: str, earlier: Mapping[str, Any]):
        self.clip = earlier.get("clip")
        self.signature = SIGNATURE | {
            "clip": "yes" if self.clip else "no",
            "registration": "yes" if earlier.get("registration") else "no",
        }
        self.embed_words = lru_cache(maxsize=256)(self.clip.embed_words) if self.clip else None

    reduce = staticmethod(looks.seen)

    def prepare(self, picture: np.ndarray) -> _Reference:
        return looks.seen(picture), picture.shape[:2]

    def embed(self, reduced: Sequence[looks.Seen], pictures: Sequence[np.ndarray]) -> list[_Kept]:
        embeddings = self.clip.embed_pictures(pictures) if self.clip else [None] * len(reduced)
        return list(zip(reduced, embeddings, strict=True))

    def judge(
        self,
        program: Program,
        position: int,
        pictures: Sequence[_Kept | None],
        reference: _Reference,
    ) -> dict[str, Value]:
        source, (height, width) = reference
        place = recorded(program.get("found", {}), (height, width))
        judged = judge.judge_step(
            program["cycle"],
            program["closes"],
            position,
            [picture and picture[0] for picture in pictures],
            source=source,
            small=program["small"],
            meaning=self._meaning(pictures, program["shows"]),
            placement=place and (place.x / width, place.y / height, place.scale),
        )
        verdicts = {name: bool(judged[name]) for name in _VERDICTS if not isinstance(judged[name], str)}
        return {column: (judged | verdicts)[name] for name, column in COLUMNS.items()}

    def _meaning(self, pictures: Sequence[_Kept | None], shows: str | None) -> list[float] | None:
        """How near each picture is to the words for what the forward picture shows."""
        if self.embed_words is None or not shows:
            return None
        words = self.embed_words(shows)
        embeddings = [picture[1] for picture in pictures if picture and picture[1] is not None]
        if len(embeddings) < len(pictures):
            return None
        return [judge.cosine(embedding, words) for embedding in embeddings]
