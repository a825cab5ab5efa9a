"""Things that can be added and taken away again, drawn with light from the upper left on an empty canvas."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[Any]
Colour = tuple[float, float, float]
Point = tuple[float, float]
Frame = tuple[float, float, float, float]  # left, top, right, bottom, in the thing's own units

DETAIL = 480  # pixels along the longer side, from which every size is scaled
LIGHT = (-0.48, -0.58, 0.66)


class Canvas:
    """Colour and coverage of one thing; every shape is laid over the ones before it."""

    def __init__(self, frame: Frame):
        self.left, self.top, right, bottom = frame
        self.scale = DETAIL / max(right - self.left, bottom - self.top)
        size = (round((bottom - self.top) * self.scale), round((right - self.left) * self.scale))
        self.colour = np.zeros((*size, 3), np.float32)  # already multiplied by the coverage
        self.cover = np.zeros(size, np.float32)

    def place(self, points: Sequence[Point]) -> NDArray[np.int32]:
        corner = np.array([self.left, self.top])
        return np.rint((np.array(points) - corner) * self.scale * 16).astype(np.int32)

    def shape(self, points: Sequence[Point], colour: Colour, shade: str = "slope", alpha: float = 1.0) -> None:
        """A filled outline."""
        mask = np.zeros(self.cover.shape, np.uint8)
        cv2.fillPoly(mask, [self.place(points)], 255, cv2.LINE_AA, 4)
        self.fill(mask, colour, shade, alpha)

    def blob(self, points: Sequence[Point], colour: Colour, shade: str = "slope", alpha: float = 1.0) -> None:
        """A filled outline, rounded through its points."""
        self.shape(smooth(points, closed=True), colour, shade, alpha)

    def oval(
        self, x: float, y: float, rx: float, ry: float, colour: Colour, shade: str = "ball", alpha: float = 1.0
    ) -> None:
        self.shape(arc(x, y, rx, ry), colour, shade, alpha)

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, shade: str = "slope") -> None:
        self.shape([(left, top), (right, top), (right, bottom), (left, bottom)], colour, shade)

    def line(
        self, points: Sequence[Point], width: float, colour: Colour, shade: str = "slope", alpha: float = 1.0
    ) -> None:
        """A stroke of even width."""
        mask = np.zeros(self.cover.shape, np.uint8)
        cv2.polylines(mask, [self.place(points)], False, 255, max(1, round(width * self.scale)), cv2.LINE_AA, 4)
        self.fill(mask, colour, shade, alpha)

    def curve(self, points: Sequence[Point], width: float, colour: Colour, shade: str = "slope") -> None:
        """A stroke of even width, rounded through its points."""
        self.line(smooth(points, closed=False), width, colour, shade)

    def cut(self, points: Sequence[Point]) -> None:
        """An outline taken out again."""
        mask = np.zeros(self.cover.shape, np.uint8)
        cv2.fillPoly(mask, [self.place(points)], 255, cv2.LINE_AA, 4)
        keep = 1 - mask.astype(np.float32) / 255
        self.cover *= keep
        self.colour *= keep[..., None]

    def fill(self, mask: NDArray[np.uint8], colour: Colour, shade: str, alpha: float) -> None:
        """Put a colour over what is there, wherever the mask says, lit as its shade says."""
        x, y, wide, high = cv2.boundingRect(mask)
        if not wide:
            return
        part = np.s_[y : y + high, x : x + wide]
        weight = mask[part].astype(np.float32) * (alpha / 255)
        u = np.linspace(-1, 1, wide, dtype=np.float32)[None]
        v = np.linspace(-1, 1, high, dtype=np.float32)[:, None]
        light, gleam = SHADES[shade](u, v)
        lit = np.asarray(colour, np.float32) * light[..., None] + 255 * gleam[..., None]
        keep = 1 - weight
        self.colour[part] = self.colour[part] * keep[..., None] + np.clip(lit, 0, 255) * weight[..., None]
        self.cover[part] = self.cover[part] * keep + weight


def flat(u: Pixels, v: Pixels) -> tuple[Pixels, Pixels]:
    """The same light everywhere."""
    none = np.zeros(np.broadcast_shapes(u.shape, v.shape), np.float32)
    return none + 1, none


def slope(u: Pixels, v: Pixels) -> tuple[Pixels, Pixels]:
    """Light that falls off towards the lower right."""
    light = 1 - 0.2 * v - 0.1 * u
    return light, light * 0


def ball(u: Pixels, v: Pixels) -> tuple[Pixels, Pixels]:
    """A sphere: a bright side, a dark side and a highlight."""
    deep = np.sqrt(np.clip(1 - u * u - v * v, 0, 1))
    lit = np.clip(u * LIGHT[0] + v * LIGHT[1] + deep * LIGHT[2], 0, 1)
    gleam = np.clip(lit, 0, 1) ** 40 * 0.75
    return 0.36 + 0.84 * lit, gleam


def tube(u: Pixels, v: Pixels) -> tuple[Pixels, Pixels]:
    """An upright cylinder."""
    lit = np.clip(u * -0.55 + np.sqrt(np.clip(1 - u * u, 0, 1)) * 0.83, 0, 1) + v * 0
    return 0.45 + 0.65 * lit, lit**24 * 0.25


def fold(u: Pixels, v: Pixels) -> tuple[Pixels, Pixels]:
    """Cloth: soft folds that run down."""
    light = 1 - 0.12 * v + 0.16 * np.sin(9 * u + 2.2 * v)
    return light, light * 0


SHADES: dict[str, Callable[[Pixels, Pixels], tuple[Pixels, Pixels]]] = {
    "flat": flat,
    "slope": slope,
    "ball": ball,
    "tube": tube,
    "fold": fold,
}


def arc(x: float, y: float, rx: float, ry: float, start: float = 0.0, end: float = 1.0) -> list[Point]:
    """Points along an ellipse, from one part of a turn to another; a turn starts at the right and runs down."""
    turns = np.linspace(start, end, 64) * 2 * np.pi
    return list(zip(x + rx * np.cos(turns), y + ry * np.sin(turns), strict=True))


def smooth(points: Sequence[Point], closed: bool) -> list[Point]:
    """Catmull-Rom through the points."""
    given = np.array(points, np.float64)
    ends = (given[-1:], given[:2]) if closed else (given[:1], given[-1:])
    padded = np.concatenate([ends[0], given, ends[1]])
    parts = []
    t = np.linspace(0, 1, 12, endpoint=False)[:, None]
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        parts.append(b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))))
    line = np.concatenate(parts if closed else [*parts, given[-1:]])
    return [(float(px), float(py)) for px, py in line]


def mirror(points: Sequence[Point], about: float = 0.5) -> list[Point]:
    """The same points on the other side of an upright line."""
    return [(2 * about - x, y) for x, y in points]


def darker(colour: Colour, by: float = 0.6) -> Colour:
    return colour[0] * by, colour[1] * by, colour[2] * by


def lighter(colour: Colour, by: float = 0.4) -> Colour:
    red, green, blue = (part + (255 - part) * by for part in colour)
    return red, green, blue


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
class Layer:
    """A thing at one size in one colour: its colours (times coverage) and its coverage."""

    colour: Pixels
    cover: Pixels


@cache
def all_things() -> dict[str, Thing]:
    """All things by name."""
    from . import things_fruits, things_in_scenes, things_worn

    files = things_worn, things_in_scenes, things_fruits
    return {thing.name: thing for file in files for thing in file.THINGS}


@lru_cache(maxsize=64)
def draw_large(name: str, colour: str) -> Layer:
    """The thing, drawn once, large."""
    thing = all_things()[name]
    canvas = Canvas(thing.frame)
    thing.draw(canvas, COLOURS[colour])
    return Layer(canvas.colour, canvas.cover)


@lru_cache(maxsize=128)
def draw_at_size(name: str, colour: str, width: int, height: int, mirrored: bool = False) -> Layer:
    """The thing at a size in pixels, from the large drawing."""
    large = draw_large(name, colour)
    shrink = width < large.cover.shape[1]
    way = cv2.INTER_AREA if shrink else cv2.INTER_LINEAR
    parts: list[Pixels] = [cv2.resize(part, (width, height), interpolation=way) for part in (large.colour, large.cover)]
    if mirrored:
        parts = [np.ascontiguousarray(part[:, ::-1]) for part in parts]
    return Layer(parts[0], parts[1])


@lru_cache(maxsize=256)
def is_lopsided(name: str) -> bool:
    """Whether the thing looks different in a mirror."""
    large = draw_large(name, all_things()[name].colours[0])
    return float(abs(large.colour - large.colour[:, ::-1]).mean()) > 0.2 * float(large.colour.mean())
