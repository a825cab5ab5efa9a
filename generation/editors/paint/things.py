"""What can be added and taken away again: how each thing looks and where it belongs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import cv2
import numpy

from .drawing import Canvas, Colour, Frame, Pixels

COLOURS: dict[str, Colour] = {
    "red": (206, 32, 38), "blue": (38, 88, 190), "green": (44, 138, 68), "yellow": (240, 198, 44),
    "orange": (236, 126, 36), "purple": (120, 58, 160), "pink": (238, 120, 166), "white": (240, 240, 236),
    "black": (30, 30, 34), "grey": (128, 130, 134), "brown": (124, 78, 44), "gold": (222, 176, 64),
    "silver": (196, 200, 206), "straw": (224, 190, 122), "teal": (28, 142, 148), "wood": (168, 108, 58),
    "sky": (132, 186, 222), "terracotta": (190, 98, 62), "cream": (238, 222, 188),
}  # fmt: skip
COMMON = ("red", "blue", "green", "yellow", "black", "white", "brown", "pink", "gold", "grey")


@dataclass(frozen=True)
class Thing:
    """One drawable thing. Worn things are drawn in units of the face's box, others with a width of one."""

    name: str
    draw: Callable[[Canvas, Colour], None]
    frame: Frame
    colours: tuple[str, ...]  # by preference; the first that stands out from what is behind it is used
    place: str = "worn"  # worn, ground, table, wall or air
    size: float = 0.0  # width as a share of the picture's short side; worn things follow the face
    words: tuple[str, ...] = ()  # other names for it


@dataclass(frozen=True)
class Look:
    """A thing at one size in one colour: its colours (times coverage) and its coverage."""

    colour: Pixels
    cover: Pixels


@cache
def every() -> dict[str, Thing]:
    """All things by name."""
    from . import fruits, furniture, headwear, objects, wearables

    return {thing.name: thing for place in (wearables, headwear, objects, furniture, fruits) for thing in place.THINGS}


@lru_cache(maxsize=64)
def master(name: str, colour: str) -> Look:
    """The thing as drawn once, large."""
    thing = every()[name]
    canvas = Canvas(thing.frame)
    thing.draw(canvas, COLOURS[colour])
    return Look(canvas.colour, canvas.cover)


@lru_cache(maxsize=128)
def look(name: str, colour: str, width: int, height: int, mirrored: bool = False) -> Look:
    """The thing at a size in pixels."""
    large = master(name, colour)
    shrink = width < large.cover.shape[1]
    way = cv2.INTER_AREA if shrink else cv2.INTER_LINEAR
    parts: list[Pixels] = [cv2.resize(part, (width, height), interpolation=way) for part in (large.colour, large.cover)]
    if mirrored:
        parts = [numpy.ascontiguousarray(part[:, ::-1]) for part in parts]
    return Look(parts[0], parts[1])


@lru_cache(maxsize=256)
def lopsided(name: str) -> bool:
    """Whether the thing looks different in a mirror."""
    large = master(name, every()[name].colours[0])
    return float(abs(large.colour - large.colour[:, ::-1]).mean()) > 0.2 * float(large.colour.mean())
