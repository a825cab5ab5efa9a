"""Finds a face with the cascade that scikit-image ships, and ends a smile by moving the corners of the mouth."""

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from .drawing import Pixels

_WINDOW = 24  # pixels of the cascade's own window
_LOOKS = ((128, 0), (192, 0), (128, 17), (128, -17))  # short sides in pixels and tilts in degrees to search at
LADDER = 1.06  # the ratio between neighbouring face sizes, so that a search has few sizes to try


@dataclass(frozen=True)
class Face:
    """A face as a square from mid-forehead to chin; `found` is false if its place is only assumed."""

    x: float
    y: float
    size: float
    found: bool = True


@cache
def _cascade() -> Any:
    import skimage.data
    from skimage.feature import Cascade

    return Cascade(str(Path(skimage.data.__file__).parent / "lbpcascade_frontalface_opencv.xml"))


def find_face(image: Pixels) -> Face:
    """The largest face near the middle, upright or slightly tilted; without one, `assumed_face`."""
    height, width = image.shape[:2]
    for side, tilt in _LOOKS:
        scale = min(1.0, side / min(height, width))
        small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        middle = (small.shape[1] / 2, small.shape[0] / 2)
        turned = small if not tilt else cv2.warpAffine(small, _upright(middle, tilt), small.shape[1::-1])
        boxes = _cascade().detect_multi_scale(turned, 1.15, 1, (_WINDOW, _WINDOW), (min(small.shape[:2]),) * 2)
        if boxes:
            best = max(boxes, key=lambda box: _weight(box, small.shape[1]))
            size = _nearest_size(best["width"] / scale)
            centre = (best["c"] + best["width"] / 2, best["r"] + best["height"] / 2)
            x, y = _upright(middle, -tilt) @ (*centre, 1)
            return Face(x / scale - size / 2, y / scale - size / 2, size)
    return assumed_face(image)


def _upright(middle: tuple[float, float], tilt: float) -> Pixels:
    """The matrix that rotates a picture about its middle by these degrees."""
    return cv2.getRotationMatrix2D(middle, tilt, 1.0)


def _weight(box: dict[str, int], width: int) -> float:
    """The weight of a detected face: highest for large faces in the middle."""
    return box["width"] * (1 - abs((box["c"] + box["width"] / 2) / width - 0.5))


def assumed_face(image: Pixels) -> Face:
    """The face at its usual place in a portrait."""
    size = usual_size(image)
    return Face(image.shape[1] * 0.5 - size / 2, image.shape[0] * 0.2, size, False)


def usual_size(image: Pixels) -> float:
    """The usual size of a face in a portrait."""
    return _nearest_size(0.36 * min(image.shape[:2]))


def _nearest_size(size: float) -> float:
    """The nearest size on the ladder."""
    return LADDER ** rung(size)


def rung(size: float) -> int:
    """The step of the ladder of sizes that is nearest to a size."""
    return round(math.log(size) / math.log(LADDER))


_LIFT = 0.055  # of the face, how far the corners of the mouth move


def neutral(image: Pixels) -> Pixels | str:
    """The picture with the mouth's corners moved down and in and its middle slightly up; or why not."""
    face = find_face(image)
    if not face.found:
        return "paint finds no face in the picture whose expression it could change"
    height, width = image.shape[:2]
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    right, down = np.zeros_like(x), np.zeros_like(y)
    for at, up, out in ((0.3, -1.0, 0.5), (0.7, -1.0, -0.5), (0.5, 0.35, 0.0)):
        far = np.square((x - face.x) / face.size - at) + np.square(((y - face.y) / face.size - 0.8) * 1.4)
        pull = np.exp(-far / (2 * 0.075**2)) * face.size * _LIFT
        right += out * pull
        down -= up * pull
    return cv2.remap(image, x - right, y - down, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
