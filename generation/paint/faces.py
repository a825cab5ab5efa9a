"""Where a face is, by the cascade that scikit-image ships."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy
from numpy.typing import NDArray

WINDOW = 24  # pixels, the cascade's
SHORT = 128  # the short side at which faces are looked for
LADDER = 1.06  # the ratio between neighbouring face sizes, so that a finder has few to try


@dataclass(frozen=True)
class Face:
    """A square from mid-forehead to chin."""

    x: float
    y: float
    size: float
    found: bool = True


@cache
def cascade() -> Any:
    import skimage.data
    from skimage.feature import Cascade

    return Cascade(str(Path(skimage.data.__file__).parent / "lbpcascade_frontalface_opencv.xml"))


def find(image: NDArray[numpy.uint8]) -> Face:
    """The largest face near the middle, or the place where a portrait has it."""
    height, width = image.shape[:2]
    scale = min(1.0, SHORT / min(height, width))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    least = (WINDOW, WINDOW)
    boxes = cascade().detect_multi_scale(small, 1.15, 1, least, (min(small.shape[:2]),) * 2)
    if not boxes:
        return Face(width * 0.5 - 0.18 * min(width, height), height * 0.2, step(0.36 * min(width, height)), False)

    def worth(box: dict[str, int]) -> float:
        away = abs((box["c"] + box["width"] / 2) / small.shape[1] - 0.5)
        return box["width"] * (1 - away)

    best = max(boxes, key=worth)
    size = step(best["width"] / scale)
    middle = (best["c"] + best["width"] / 2) / scale, (best["r"] + best["height"] / 2) / scale
    return Face(middle[0] - size / 2, middle[1] - size / 2, size)


def step(size: float) -> float:
    """The nearest size on the ladder."""
    return LADDER ** round(numpy.log(size) / numpy.log(LADDER))
