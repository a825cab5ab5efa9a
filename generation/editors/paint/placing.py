"""Where an addition goes: worn things on the face, others where the picture is calm and the ground is."""

import cv2
import numpy
from numpy.typing import NDArray

from . import faces
from .drawing import Pixels
from .things import Thing, look, lopsided

LEVELS = {"ground": (0.84, 0.97), "table": (0.74, 0.9), "wall": (0.12, 0.3), "air": (0.1, 0.4)}  # of the height
LADDER = faces.LADDER  # between neighbouring sizes of a thing
SIDES = {"left": (0.0, 0.32), "right": (0.68, 1.0), "middle": (0.36, 0.64), "": (0.08, 0.92)}

Place = tuple[int, int, int, int, bool]  # left, top, width, height, mirrored


def worn(image: NDArray[numpy.uint8], thing: Thing) -> Place:
    """On the face, or where a portrait has it."""
    return on_face(faces.find(image), thing)


def on_face(face: faces.Face, thing: Thing) -> Place:
    left, top, right, bottom = thing.frame
    width, height = round((right - left) * face.size), round((bottom - top) * face.size)
    above = max(round(face.y + top * face.size), -height // 2)  # half of a hat at least is seen
    return round(face.x + left * face.size), above, width, height, False


def size_of(thing: Thing, short: int, step: int) -> tuple[int, int]:
    """Width and height in pixels, some steps up or down from the thing's usual size."""
    left, top, right, bottom = thing.frame
    width = thing.size * short * LADDER**step
    return max(8, round(width)), max(8, round(width * (bottom - top) / (right - left)))


def neighbour(thing: Thing, short: int, width: int, step: int) -> tuple[int, int]:
    """The size that many steps up or down from the size that has this width."""
    left, _, right, _ = thing.frame
    if thing.place == "worn":
        rung = faces.rung(width / (right - left)) + step
        return on_face(faces.Face(0, 0, faces.LADDER**rung), thing)[2:4]
    return size_of(thing, short, faces.rung(width / (thing.size * short)) + step)


def free(image: NDArray[numpy.uint8], thing: Thing, side: str, chance: numpy.random.Generator) -> Place:
    """In the scene: at a level that suits the thing, on the side asked for, where little is in the way."""
    height, width = image.shape[:2]
    short = min(width, height)
    wide, tall = size_of(thing, short, int(chance.integers(-1, 2)))
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    scale = 96 / short
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA).astype(numpy.float32)
    busy = abs(cv2.Sobel(small, cv2.CV_32F, 1, 0)) + abs(cv2.Sobel(small, cv2.CV_32F, 0, 1))
    total = cv2.integral(busy)
    low, high = SIDES[side]
    best, least = (0, 0), numpy.inf
    for _ in range(24):
        x = low + (high - low) * chance.random()
        level = LEVELS[thing.place]
        y = level[0] + (level[1] - level[0]) * chance.random()
        left = int(numpy.clip(x * width - wide / 2, 2, max(2, width - wide - 2)))
        bottom = y * height + (tall if thing.place in ("wall", "air") else 0)
        top = int(numpy.clip(bottom - tall, 2, max(2, height - tall - 2)))
        x0, y0, x1, y1 = (int(v * scale) for v in (left, top, left + wide, top + tall))
        x1, y1 = min(x1, busy.shape[1]), min(y1, busy.shape[0])
        load = float(total[y1, x1] - total[y0, x1] - total[y1, x0] + total[y0, x0]) / max(1, (x1 - x0) * (y1 - y0))
        if load < least:
            best, least = (left, top), load
    return (*best, wide, tall, bool(chance.integers(2)) and lopsided(thing.name))


def standing_out(image: NDArray[numpy.uint8], thing: Thing, place: Place) -> str:
    """The first of the thing's colours that differs enough from what is behind it, or the one that differs most."""
    left, top, width, height, mirrored = place
    behind = window(image, left, top, width, height)
    apart = {}
    for colour in thing.colours:
        drawn = look(thing.name, colour, width, height, mirrored)
        weight = drawn.cover[..., None]
        gap = abs(drawn.colour - behind * weight).sum() / max(1.0, float(weight.sum()) * 3)
        if gap > 60:
            return colour
        apart[colour] = float(gap)
    return max(apart, key=lambda colour: apart[colour])


def window(image: NDArray[numpy.uint8], left: int, top: int, width: int, height: int) -> Pixels:
    """A part of the picture that may hang over its edge, continued there by its last pixels."""
    rows = numpy.clip(numpy.arange(top, top + height), 0, image.shape[0] - 1)
    columns = numpy.clip(numpy.arange(left, left + width), 0, image.shape[1] - 1)
    return image[rows[:, None], columns[None]].astype(numpy.float32)
