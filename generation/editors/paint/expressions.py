"""A smile, and taking it off again, by moving what is in the face."""

import cv2
import numpy

from . import faces
from .drawing import Pixels

LIFT = 0.055  # of the face, how far the corners of the mouth move


def smile(image: Pixels) -> Pixels | str:
    return moved(image, LIFT)


def neutral(image: Pixels) -> Pixels | str:
    return moved(image, -LIFT)


def moved(image: Pixels, lift: float) -> Pixels | str:
    """The corners of the mouth up and out by a share of the face, its middle down a little; or why not."""
    face = faces.find(image)
    if not face.found:
        return "paint finds no face in the picture whose expression it could change"
    height, width = image.shape[:2]
    x, y = numpy.meshgrid(numpy.arange(width, dtype=numpy.float32), numpy.arange(height, dtype=numpy.float32))
    right, down = numpy.zeros_like(x), numpy.zeros_like(y)
    for at, up, out in ((0.3, 1.0, -0.5), (0.7, 1.0, 0.5), (0.5, -0.35, 0.0)):
        far = numpy.square((x - face.x) / face.size - at) + numpy.square(((y - face.y) / face.size - 0.8) * 1.4)
        pull = numpy.exp(-far / (2 * 0.075**2)) * face.size * lift
        right += out * pull
        down -= up * pull
    return cv2.remap(image, x - right, y - down, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
