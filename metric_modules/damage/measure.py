"""Damage as pure functions: LPIPS of small pictures, and of it the worst tile."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from .._shared.scoring import PairScorer, Signature, Value
from ..halflife.causes import PART
from ..lpips import measure as lpips
from ..registration.align import FEWEST, Anchors, Placement, anchors, locate
from ..registration.measure import undone

if TYPE_CHECKING:
    import torch

# Chosen on 64 rounds of two editors that an eye had labelled: 64 agree. Short side 512 and 8 tiles: 63;
# finer grids, sliding windows and quantiles are not better. At 256 the wear of a round hardly shows.
SIDE = 256
TILES = 10
# Sigma, at that side, of the blur that takes grain off a return. No eye calls
# fine grain on a wall a loss, and a later blur or JPEG must not bring back what
# was lost. From .5 to 3 the labelled rounds agree as well (docs/verdicts.md).
GRAIN = 0.7
COLUMNS = ("damage", "damage_outline")
Reference = tuple[np.ndarray, "list[torch.Tensor]", Anchors]  # a picture, its features for LPIPS, and its blocks
_Polygons = list[list[list[float]]]  # their corners, right and down, from 0 to 1
missing_weights = lpips.missing_weights


def _small(picture: np.ndarray) -> np.ndarray:
    height, width = picture.shape[:2]
    zoom = SIDE / min(height, width)
    return cv2.resize(picture, (round(width * zoom), round(height * zoom)), interpolation=cv2.INTER_AREA)


def prepare(model: lpips.Model, picture: np.ndarray) -> Reference:
    return picture, lpips.features(model, [_small(picture)]), anchors(picture)


def _tiles(model: lpips.Model, features: "list[torch.Tensor]", shown: np.ndarray) -> np.ndarray:
    """The damage of each tile: that of the picture or of the picture without grain, whichever is smaller."""
    grids, small, size = [], _small(shown), (TILES, TILES)
    for picture in (small, cv2.GaussianBlur(small, (0, 0), GRAIN)):
        maps = lpips.maps(features, lpips.features(model, [picture]))
        grids.append(
            sum(cv2.resize(place[0, 0].cpu().numpy(), size, interpolation=cv2.INTER_AREA) for place in maps)
        )
    return np.minimum(*grids)


def _moved(blocks: Anchors, shown: np.ndarray, scores: Mapping[str, Any]) -> Placement | None:
    """How the whole picture moved, None if it did not; taken from the scores if registration has run."""
    if "framing_loss" not in scores:
        place = locate(blocks, shown)
        return place if place.accepted and not place.still else None
    right, down, scale, loss = (scores[name] for name in ("shift_x", "shift_y", "scale", "framing_loss"))
    return Placement(right, down, scale, 0.0, np.inf, FEWEST) if isinstance(loss, float) and loss > 0 else None


def compare(
    model: lpips.Model, reference: Reference, shown: np.ndarray, scores: Mapping[str, Any] | None = None
) -> tuple[float, _Polygons]:
    """The damage of a picture, and outlines of the lost parts. If the whole picture moved and a part may be lost,
    it is the damage before or after undoing the move, whichever is smaller."""
    picture, features, blocks = reference
    tiles, where = _tiles(model, features, shown), (slice(0, shown.shape[0]), slice(0, shown.shape[1]))
    if tiles.max() >= PART.low and (place := _moved(blocks, shown, scores or {})):
        laid, part = undone(shown, place)
        cropped = lpips.features(model, [_small(np.ascontiguousarray(picture[part]))])
        aligned = _tiles(model, cropped, np.ascontiguousarray(laid[part]))
        if aligned.max() < tiles.max():
            tiles, where = aligned, part
    return float(tiles.max()), _outline(tiles >= PART.limit, where, shown.shape)


def _outline(lost: np.ndarray, where: tuple[slice, slice], shape: tuple[int, ...]) -> _Polygons:
    area = np.zeros(shape[:2], np.uint8)
    size = area[where].shape[::-1]
    area[where] = cv2.resize(lost.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    contours, _ = cv2.findContours(area, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    return [np.round((contour[:, 0] + 0.5) / shape[1::-1], 4).tolist() for contour in contours]


class Scorer(PairScorer):
    """Always in float32: small pictures cost a sixteenth of LPIPS at 1024."""

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, Any]):
        lpips_scorer = earlier.get("lpips") or lpips.Scorer(device, "float32", {})
        self.device, self.model = device, (lpips_scorer.exact or lpips_scorer).model
        limits: Signature = {"version": 2, "side": SIDE, "tiles": TILES, "grain": GRAIN, "limit": PART.limit}
        self.signature = lpips.signature(self.model) | limits

    def prepare(self, picture: np.ndarray) -> Reference:
        return prepare(self.model, picture)

    def compare(
        self, reference: Reference, pictures: Sequence[np.ndarray], earlier: Any
    ) -> list[dict[str, Value]]:
        damages = [compare(self.model, reference, *pair) for pair in zip_longest(pictures, earlier)]
        return [
            {"damage": worst, "damage_outline": {"polygons": lost} if lost else "no_damage"}
            for worst, lost in damages
        ]
