"""Damage as pure functions: LPIPS of small pictures, and of it the worst tile."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np

from .._shared.scoring import Signature, Value
from ..halflife.causes import PART
from ..lpips import measure as lpips
from ..registration.align import Placement, recorded
from ..registration.measure import undone

if TYPE_CHECKING:
    import torch

# Chosen on 64 rounds of two editors that an eye had labelled: 64 agree. Short side 512 and 8 tiles: 63; finer grids,
# sliding windows and quantiles are no better. At 256 the wear of a round hardly shows.
SIDE = 256
TILES = 10
COLUMNS = ("damage", "damage_outline")
_ZOOM = 8  # pixels a tile has while its outline is traced
_Polygons = list[list[list[float]]]  # their corners, right and down, from 0 to 1
missing_weights = lpips.missing_weights


class Reference(NamedTuple):
    picture: np.ndarray
    features: "list[torch.Tensor]"


def _small(picture: np.ndarray) -> np.ndarray:
    height, width = picture.shape[:2]
    zoom = SIDE / min(height, width)
    return cv2.resize(picture, (round(width * zoom), round(height * zoom)), interpolation=cv2.INTER_AREA)


def prepare(model: lpips.Model, picture: np.ndarray) -> Reference:
    return Reference(picture, lpips.features(model, [_small(picture)]))


def _tiles(model: lpips.Model, reference: Reference, shown: np.ndarray) -> np.ndarray:
    maps = lpips.maps(reference.features, lpips.features(model, [_small(shown)]))
    size = (TILES, TILES)
    return sum(cv2.resize(place[0, 0].cpu().numpy(), size, interpolation=cv2.INTER_AREA) for place in maps)


def compare(
    model: lpips.Model, reference: Reference, shown: np.ndarray, placement: Placement | None = None
) -> tuple[float, _Polygons]:
    """The damage of a picture and where a part of it is lost; if `placement` says how the whole picture moved, the
    smaller one of before and after undoing that.

    Only what may be a lost part is laid back: below that nothing is decided.
    """
    tiles, where = _tiles(model, reference, shown), (slice(0, shown.shape[0]), slice(0, shown.shape[1]))
    if placement is not None and tiles.max() >= PART.low:
        laid, part = undone(shown, placement)
        cropped = prepare(model, np.ascontiguousarray(reference.picture[part]))
        aligned = _tiles(model, cropped, np.ascontiguousarray(laid[part]))
        if aligned.max() < tiles.max():
            tiles, where = aligned, part
    return float(tiles.max()), _outline(tiles >= PART.limit, where, shown.shape)


def _outline(lost: np.ndarray, where: tuple[slice, slice], shape: tuple[int, ...]) -> _Polygons:
    large = cv2.resize(lost.astype(np.uint8), None, fx=_ZOOM, fy=_ZOOM, interpolation=cv2.INTER_NEAREST)
    contours, _ = cv2.findContours(large, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    starts, ends = ([part.start for part in where[::-1]], [part.stop for part in where[::-1]])
    begin, length = np.array(starts), np.subtract(ends, starts)
    inside = [begin + length * (contour[:, 0] + 0.5) / (_ZOOM * TILES) for contour in contours]
    return [np.round(points / shape[1::-1], 4).tolist() for points in inside]


def signature(model: lpips.Model) -> Signature:
    return {**lpips.signature(model), "version": 1, "side": SIDE, "tiles": TILES, "limit": PART.limit}


class Scorer:
    """Always in float32: small pictures cost a sixteenth of LPIPS at 1024."""

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, Any]):
        known = earlier.get("lpips") or lpips.Scorer(device, "float32", {})
        self.device, self.model = device, (known.exact or known).model
        self.signature = signature(self.model) | {"registration": "yes" if earlier.get("registration") else "no"}

    def prepare(self, picture: np.ndarray) -> Reference:
        return prepare(self.model, picture)

    def compare(
        self, reference: Reference, pictures: Sequence[np.ndarray], earlier: Sequence[Mapping[str, object]]
    ) -> list[dict[str, Value]]:
        rows: list[dict[str, Value]] = []
        for shown, values in zip(pictures, earlier, strict=True):
            worst, polygons = compare(self.model, reference, shown, recorded(values, shown.shape))
            rows.append({"damage": worst, "damage_outline": {"polygons": polygons} if polygons else "no_damage"})
        return rows
