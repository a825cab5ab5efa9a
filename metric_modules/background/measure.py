"""LPIPS outside the additions of a program that only adds.

A step's addition is the largest connected region that it changed. The reference's
pixels replace all additions so far, and LPIPS is divided by the share of the picture
that is left: an editor that changes nothing else scores 0.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import cv2
import numpy as np

from .._shared.looks import SIDE, find_edit, fitted, seen, sized
from .._shared.scoring import Program, Value
from ..lpips import measure as lpips
from ..lpips.weights import load_weights

if TYPE_CHECKING:
    import torch

_RIM = 2  # cells around an addition that its shadow and soft edges reach
_LEAST = 0.2  # of the picture: with less background there is no value
# With the regions in which it differs from earlier pictures, by their looks' ids.
_Shown = tuple[np.ndarray, np.ndarray, dict[int, np.ndarray]]


class Scorer:
    def __init__(
        self,
        device: str,
        dtype: str,
        earlier: Mapping[str, object],
        loaded: tuple[dict[str, "torch.Tensor"], str] | None = None,
    ):
        tensors, digest = loaded or load_weights(lpips.NET)
        self.model = lpips.model(lpips.NET, tensors, device, "float32", digest)
        signature = lpips.signature(self.model)
        self.signature = {"version": 1, "side": SIDE, "rim": _RIM} | {
            key: signature[key] for key in ("net", "weights")
        }

    def prepare(self, picture: np.ndarray) -> tuple[np.ndarray, list["torch.Tensor"]]:
        pixels = sized(picture)
        return pixels, lpips.features(self.model, [pixels])

    def reduce(self, picture: np.ndarray) -> _Shown:
        return *seen(picture), {}

    def judge(
        self,
        program: Program,
        position: int,
        pictures: Sequence[_Shown | None],
        reference: tuple[np.ndarray, list["torch.Tensor"]],
    ) -> dict[str, Value]:
        names = ("background_lpips", "background_share")
        if program["closes"]:
            return dict.fromkeys(names, "not_an_addition")
        shown = [*program["earlier"], *pictures]
        if None in shown:
            return dict.fromkeys(names, "step_missing")
        original, features = reference
        covered = _covered_by(shown)
        share = float(1 - covered.mean())
        if share < _LEAST:
            return dict(zip(names, (("covered", f"{share:.0%}"), share), strict=True))
        height, width = original.shape[:2]
        pixels = cv2.resize(shown[-1][0], (width, height), interpolation=cv2.INTER_AREA)
        mask = cv2.resize(covered.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST) > 0
        [distance] = lpips.distances(self.model, features, [np.where(mask[..., None], original, pixels)])
        return dict(zip(names, (distance["lpips"] / share, share), strict=True))


def _covered_by(shown: Sequence[_Shown]) -> np.ndarray:
    grid = shown[0][1]
    covered = np.zeros(grid.shape[:2], np.bool_)
    for (_, before, _), (_, after, regions) in pairwise(shown):
        if id(before) not in regions:
            region = find_edit(before, after)[1].astype(np.float32)
            regions[id(before)] = cv2.dilate(region, np.ones((2 * _RIM + 1,) * 2, np.uint8))
        covered |= fitted(regions[id(before)], grid[..., 0]) > 0.5
    return covered
