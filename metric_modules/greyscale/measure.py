"""Measures how much colour a picture has; `turn the image monochrome` asks for none."""

from collections.abc import Sequence

import numpy as np

signature = {"version": 1}


def _colour_of(picture: np.ndarray) -> tuple[float, float]:
    """The share of coloured pixels, and their channels' mean difference.

    >>> _colour_of(np.array([[[7, 7, 7], [9, 9, 13]]], np.uint8))
    (0.5, 2.0)
    """
    differences = picture.max(2).astype(np.int64) - picture.min(2)
    return float((differences > 0).mean()), float(differences.mean())


def compare(reference: object, pictures: Sequence[np.ndarray], earlier: object) -> list[dict[str, float]]:
    return [
        dict(zip(("coloured_share", "colour_left"), _colour_of(picture), strict=True)) for picture in pictures
    ]
