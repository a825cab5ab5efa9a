"""The recall audit: is an answer to a mirrored picture closer to the reference that was never shown mirrored?

There is no `evaluate` module of it: only the engine knows which steps were given a mirrored picture.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .psnr_measure import psnr_and_rmse

COLUMNS = ("recalled", "recall_unshown", "recall_shown")
SYMMETRIC = 15.0  # dB between a reference and its mirror image, from which on nothing can be told


class Scorer:
    """Pictures come turned back, as all that was mirrored is before it is scored; recall shows after a second turn."""

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, Any]):
        self.signature = {"version": 2, "symmetric": SYMMETRIC}

    def prepare(self, picture: np.ndarray) -> np.ndarray | None:
        """The reference itself; None where it looks like its own mirror image."""
        return picture if psnr_and_rmse(picture, mirror(picture))["psnr"] < SYMMETRIC else None

    def compare(
        self, reference: np.ndarray | None, pictures: Sequence[np.ndarray], earlier: object
    ) -> list[dict[str, bool | float | str]]:
        """How far each picture, mirrored once more, is from the reference, and how far as it is."""
        if reference is None:
            return [dict.fromkeys(COLUMNS, "mirror_symmetric") for _ in pictures]
        return [distances(reference, picture) for picture in pictures]


def distances(reference: np.ndarray, picture: np.ndarray) -> dict[str, bool | float | str]:
    unshown, shown = rmse(reference, mirror(picture)), rmse(reference, picture)
    return dict(zip(COLUMNS, (unshown < shown, unshown, shown), strict=True))


def mirror(picture: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(picture[:, ::-1])


def rmse(reference: np.ndarray, picture: np.ndarray) -> float:
    return psnr_and_rmse(reference, picture)["rmse"]
