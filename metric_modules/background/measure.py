"""LPIPS outside the additions: the damage to those parts of a picture that should not have changed.

A step's addition is the largest connected region in which it changed the picture, drift of light and colour removed.
The reference's pixels replace all additions so far, and LPIPS to the reference is divided by the share of
the picture that is left: an editor that changes nothing but what it adds scores 0.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import cv2
import numpy as np

from .._shared.looks import SIDE, find_edit, fitted, look, sized
from .._shared.scoring import Program, Value
from ..lpips import measure as lpips
from ..lpips.weights import load

if TYPE_CHECKING:
    import torch

_RIM = 2  # cells around an addition that its shadow and soft edges reach
_LEAST = 0.2  # of the picture: with less background there is no value


class _Seen:
    """A picture at 512 on the short side, its cells, and the regions in which it differs from others."""

    def __init__(self, pixels: np.ndarray, cells: np.ndarray):
        self.pixels, self.cells = pixels, cells
        self.changed: dict[int, np.ndarray] = {}

    def region_since(self, before: "_Seen") -> np.ndarray:
        """The largest region in which it differs from the picture before, with its rim, on the cells of that one."""
        if id(before) not in self.changed:
            region = find_edit(before.cells, self.cells)[1].astype(np.uint8)
            self.changed[id(before)] = cv2.dilate(region, np.ones((2 * _RIM + 1,) * 2, np.uint8)) > 0
        return self.changed[id(before)]


class Scorer:
    """LPIPS of the background of programs that only add."""

    def __init__(
        self,
        device: str,
        dtype: str,
        earlier: Mapping[str, object],
        loaded: tuple[dict[str, "torch.Tensor"], str] | None = None,
    ):
        tensors, digest = loaded or load(lpips.NET)
        self.model = lpips.model(lpips.NET, tensors, device, "float32", digest)
        signature = lpips.signature(self.model)
        self.signature = {"version": 1, "side": SIDE, "rim": _RIM} | {key: signature[key] for key in ("net", "weights")}

    def prepare(self, picture: np.ndarray) -> tuple[np.ndarray, list["torch.Tensor"]]:
        pixels = sized(picture)
        return pixels, lpips.features(self.model, [pixels])

    def reduce(self, picture: np.ndarray) -> _Seen:
        pixels = sized(picture)
        return _Seen(pixels, look(pixels))

    def embed(self, reduced: Sequence[_Seen], pictures: Sequence[np.ndarray]) -> list[_Seen]:
        return list(reduced)

    def judge(
        self,
        program: Program,
        position: int,
        pictures: Sequence[_Seen | None],
        reference: tuple[np.ndarray, list["torch.Tensor"]],
    ) -> dict[str, Value]:
        """The background of one step: the picture without what this step and all before it added."""
        if program["closes"]:
            return dict.fromkeys(("background_lpips", "background_share"), "not_an_addition")
        seen = [*program["earlier"], *pictures]
        if None in seen:
            return dict.fromkeys(("background_lpips", "background_share"), "step_missing")
        original, features = reference
        covered = _covered_by(seen)
        share = float(1 - covered.mean())
        if share < _LEAST:
            return {"background_lpips": ("covered", f"{share:.0%}"), "background_share": share}
        height, width = original.shape[:2]
        pixels = cv2.resize(seen[-1].pixels, (width, height), interpolation=cv2.INTER_AREA)
        mask = cv2.resize(covered.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST) > 0
        [distance] = lpips.distances(self.model, features, [np.where(mask[..., None], original, pixels)])
        return {"background_lpips": distance["lpips"] / share, "background_share": share}


def _covered_by(seen: Sequence[_Seen]) -> np.ndarray:
    """The cells that the additions of these pictures, each made from the one before, cover together."""
    grid = seen[0].cells
    covered = np.zeros(grid.shape[:2], np.bool_)
    for before, after in pairwise(seen):
        region = after.region_since(before).astype(np.float32)
        covered |= fitted(region, grid[..., 0]) > 0.5
    return covered
