"""Finding what was added, from the picture alone: by comparing it with what would be drawn, size by size."""

from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy
from numpy.typing import NDArray

from . import faces, placing
from .drawing import Pixels
from .placing import Place
from .things import Thing, look

SMALL = 128  # the short side at which places are looked for
LIKENESS = 34.0  # grey levels between a thing and what is there, above which it is not there


@dataclass(frozen=True)
class Found:
    place: Place
    colour: str
    gap: float  # grey levels between what would be drawn there and what is there


def find(image: NDArray[numpy.uint8], thing: Thing, colours: Iterable[str]) -> Found | None:
    """Where the thing is, or None."""
    scale = min(1.0, SMALL / min(image.shape[:2]))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA).astype(numpy.float32)
    candidates: list[Found] = []
    for width, height in sizes(image, thing):
        for colour in colours:
            for mirrored in (False, True):
                candidates += spots(small, thing, colour, width, height, mirrored, scale)
    candidates.sort(key=lambda found: found.gap)
    exact = [refine(image, thing, found, round(1 / scale) + 1) for found in candidates[:6]]
    best = min(exact, key=lambda found: found.gap, default=None)
    return best if best and best.gap < LIKENESS else None


def sizes(image: NDArray[numpy.uint8], thing: Thing) -> list[tuple[int, int]]:
    """Every size at which it may have been drawn."""
    short = min(image.shape[:2])
    if thing.place != "worn":
        return [placing.size_of(thing, short, step) for step in (-1, 0, 1)]
    face = faces.find(image)
    near = [faces.step(face.size * faces.LADDER**step) for step in (-2, -1, 0, 1, 2)]
    if not face.found:
        usual = faces.step(0.36 * short)
        near = [faces.step(usual * faces.LADDER**step) for step in range(-16, 12, 1)]
    return [placing.on_face(faces.Face(0, 0, size), thing)[2:4] for size in near]


def spots(
    small: Pixels, thing: Thing, colour: str, width: int, height: int, mirrored: bool, scale: float
) -> list[Found]:
    """The two likeliest places of one size, one colour and one way round."""
    drawn = look(thing.name, colour, max(4, round(width * scale)), max(4, round(height * scale)), mirrored)
    edge = max(drawn.cover.shape) // 2
    solid = drawn.cover * (drawn.cover > 0.6)
    padded = cv2.copyMakeBorder(small, edge, edge, edge, edge, cv2.BORDER_REPLICATE)
    full = drawn.colour / numpy.clip(drawn.cover, 0.05, None)[..., None]
    cost = cv2.matchTemplate(padded, full, cv2.TM_SQDIFF, mask=cv2.merge([solid] * 3)) / max(
        1.0, 3 * float((solid**2).sum())
    )
    found = []
    for _ in range(2):
        row, column = (int(v) for v in numpy.unravel_index(int(cost.argmin()), cost.shape))
        place = (round((column - edge) / scale), round((row - edge) / scale), width, height, mirrored)
        found.append(Found(place, colour, float(max(0.0, cost[row, column])) ** 0.5))
        cost[max(0, row - 3) : row + 4, max(0, column - 3) : column + 4] = numpy.inf
    return found


def refine(image: NDArray[numpy.uint8], thing: Thing, found: Found, far: int) -> Found:
    """The same place to the pixel."""
    left, top, width, height, mirrored = found.place
    drawn = look(thing.name, found.colour, width, height, mirrored)
    around = placing.window(image, left - far, top - far, width + 2 * far, height + 2 * far)
    solid = (drawn.cover > 0.6).astype(numpy.float32)
    full = drawn.colour / numpy.clip(drawn.cover, 0.05, None)[..., None]
    cost = cv2.matchTemplate(around, full, cv2.TM_SQDIFF, mask=cv2.merge([solid] * 3)) / max(
        1.0, 3 * float(solid.sum())
    )
    row, column = (int(v) for v in numpy.unravel_index(int(cost.argmin()), cost.shape))
    place = (left - far + column, top - far + row, width, height, mirrored)
    return Found(place, found.colour, float(max(0.0, cost[row, column])) ** 0.5)
