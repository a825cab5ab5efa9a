"""Measures how much colour a picture has; `turn the image monochrome` asks for none."""

from collections.abc import Mapping, Sequence

import numpy as np


def _colour_of(picture: np.ndarray) -> tuple[float, float]:
    """The share of coloured pixels, and their channels' mean difference.

    >>> _colour_of(np.array([[[7, 7, 7], [9, 9, 13]]], np.uint8))
    (0.5, 2.0)
    """
    differences = picture.max(2).astype(np.int64) - picture.min(2)
    return float((differences > 0).mean()), float(differences.mean())


class Scorer:
    def __init__(self, device: str, dtype: str, earlier: Mapping[str, object]):
        self.signature = {"version": 1}

    def prepare(self, picture: np.ndarray) -> None:
        """Nothing: the reference is not used."""

    def compare(self, reference: None, pictures: Sequence[np.ndarray], earlier: object) -> list[dict[str, float]]:
        return [
            dict(zip(("coloured_share", "colour_left"), _colour_of(picture), strict=True)) for picture in pictures
        ]
