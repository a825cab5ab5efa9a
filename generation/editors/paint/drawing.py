"""A canvas for one thing: shapes with light from the upper left, on nothing."""

from collections.abc import Callable, Sequence
from typing import Any

import cv2
import numpy
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
        self.colour = numpy.zeros((*size, 3), numpy.float32)  # already multiplied by the coverage
        self.cover = numpy.zeros(size, numpy.float32)

    def place(self, points: Sequence[Point]) -> NDArray[numpy.int32]:
        corner = numpy.array([self.left, self.top])
        return numpy.rint((numpy.array(points) - corner) * self.scale * 16).astype(numpy.int32)

    def shape(self, points: Sequence[Point], colour: Colour, shade: str = "slope", alpha: float = 1.0) -> None:
        """A filled outline."""
        mask = numpy.zeros(self.cover.shape, numpy.uint8)
        cv2.fillPoly(mask, [self.place(points)], 255, cv2.LINE_AA, 4)
        self.lay(mask, colour, shade, alpha)

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
        mask = numpy.zeros(self.cover.shape, numpy.uint8)
        cv2.polylines(mask, [self.place(points)], False, 255, max(1, round(width * self.scale)), cv2.LINE_AA, 4)
        self.lay(mask, colour, shade, alpha)

    def curve(self, points: Sequence[Point], width: float, colour: Colour, shade: str = "slope") -> None:
        """A stroke of even width, rounded through its points."""
        self.line(smooth(points, closed=False), width, colour, shade)

    def cut(self, points: Sequence[Point]) -> None:
        """An outline taken out again."""
        mask = numpy.zeros(self.cover.shape, numpy.uint8)
        cv2.fillPoly(mask, [self.place(points)], 255, cv2.LINE_AA, 4)
        keep = 1 - mask.astype(numpy.float32) / 255
        self.cover *= keep
        self.colour *= keep[..., None]

    def lay(self, mask: NDArray[numpy.uint8], colour: Colour, shade: str, alpha: float) -> None:
        """Put a colour over what is there, wherever the mask says, lit as its shade says."""
        x, y, wide, high = cv2.boundingRect(mask)
        if not wide:
            return
        part = numpy.s_[y : y + high, x : x + wide]
        weight = mask[part].astype(numpy.float32) * (alpha / 255)
        u = numpy.linspace(-1, 1, wide, dtype=numpy.float32)[None]
        v = numpy.linspace(-1, 1, high, dtype=numpy.float32)[:, None]
        light, gleam = SHADES[shade](u, v)
        lit = numpy.asarray(colour, numpy.float32) * light[..., None] + 255 * gleam[..., None]
        keep = 1 - weight
        self.colour[part] = self.colour[part] * keep[..., None] + numpy.clip(lit, 0, 255) * weight[..., None]
        self.cover[part] = self.cover[part] * keep + weight


def flat(u: Pixels, v: Pixels) -> tuple[Pixels, Pixels]:
    """The same light everywhere."""
    none = numpy.zeros(numpy.broadcast_shapes(u.shape, v.shape), numpy.float32)
    return none + 1, none


def slope(u: Pixels, v: Pixels) -> tuple[Pixels, Pixels]:
    """Light that falls off towards the lower right."""
    light = 1 - 0.2 * v - 0.1 * u
    return light, light * 0


def ball(u: Pixels, v: Pixels) -> tuple[Pixels, Pixels]:
    """A sphere: a bright side, a dark side and a highlight."""
    deep = numpy.sqrt(numpy.clip(1 - u * u - v * v, 0, 1))
    lit = numpy.clip(u * LIGHT[0] + v * LIGHT[1] + deep * LIGHT[2], 0, 1)
    gleam = numpy.clip(lit, 0, 1) ** 40 * 0.75
    return 0.36 + 0.84 * lit, gleam


def tube(u: Pixels, v: Pixels) -> tuple[Pixels, Pixels]:
    """An upright cylinder."""
    lit = numpy.clip(u * -0.55 + numpy.sqrt(numpy.clip(1 - u * u, 0, 1)) * 0.83, 0, 1) + v * 0
    return 0.45 + 0.65 * lit, lit**24 * 0.25


def fold(u: Pixels, v: Pixels) -> tuple[Pixels, Pixels]:
    """Cloth: soft folds that run down."""
    light = 1 - 0.12 * v + 0.16 * numpy.sin(9 * u + 2.2 * v)
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
    turns = numpy.linspace(start, end, 64) * 2 * numpy.pi
    return list(zip(x + rx * numpy.cos(turns), y + ry * numpy.sin(turns), strict=True))


def smooth(points: Sequence[Point], closed: bool) -> list[Point]:
    """Catmull-Rom through the points."""
    given = numpy.array(points, numpy.float64)
    ends = (given[-1:], given[:2]) if closed else (given[:1], given[-1:])
    padded = numpy.concatenate([ends[0], given, ends[1]])
    parts = []
    t = numpy.linspace(0, 1, 12, endpoint=False)[:, None]
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        parts.append(b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))))
    line = numpy.concatenate(parts if closed else [*parts, given[-1:]])
    return [(float(px), float(py)) for px, py in line]


def mirror(points: Sequence[Point], about: float = 0.5) -> list[Point]:
    """The same points on the other side of an upright line."""
    return [(2 * about - x, y) for x, y in points]


def darker(colour: Colour, by: float = 0.6) -> Colour:
    return colour[0] * by, colour[1] * by, colour[2] * by


def lighter(colour: Colour, by: float = 0.4) -> Colour:
    red, green, blue = (part + (255 - part) * by for part in colour)
    return red, green, blue
