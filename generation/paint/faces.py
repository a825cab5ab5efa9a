"""Where a face is, by the cascade that scikit-image ships."""

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy
from numpy.typing import NDArray

WINDOW = 24  # pixels, the cascade's
SHORT = 128, 192  # the short sides at which faces are looked for
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
    for side in SHORT:
        scale = min(1.0, side / min(height, width))
        small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        boxes = cascade().detect_multi_scale(small, 1.15, 1, (WINDOW, WINDOW), (min(small.shape[:2]),) * 2)
        if boxes:
            break
    else:
        size = usual(image)
        return Face(width * 0.5 - size / 2, height * 0.2, size, False)

    def worth(box: dict[str, int]) -> float:
        away = abs((box["c"] + box["width"] / 2) / small.shape[1] - 0.5)
        return box["width"] * (1 - away)

    best = max(boxes, key=worth)
    size = step(best["width"] / scale)
    middle = (best["c"] + best["width"] / 2) / scale, (best["r"] + best["height"] / 2) / scale
    return Face(middle[0] - size / 2, middle[1] - size / 2, size)


def usual(image: NDArray[numpy.uint8]) -> float:
    """The size of a face in a portrait."""
    return step(0.36 * min(image.shape[:2]))


def step(size: float) -> float:
    """The nearest size on the ladder."""
    return LADDER ** rung(size)


def rung(size: float) -> int:
    """Where on the ladder a size is."""
    return round(math.log(size) / math.log(LADDER))
