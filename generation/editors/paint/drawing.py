"""The things that paint can add and remove, drawn with light from the upper left on an empty canvas.

The drawings are data, in things_*.toml, as the colours are in colours.toml. A thing has `names`
(each becomes a separate thing), other `words` for it, a `frame` (left, top, right, bottom in
its own units), `colours` by preference, a `place` and a `size` as a share of the picture's
short side; worn things follow the face. Its `shapes` are drawn over each other in turn:

- `shape` and `blob` are filled outlines, a blob rounded through its points; `line`, `curve` and `ring` are strokes of a
  `width`, a curve and the closed ring rounded. A point is [x, y], an arc [x, y, rx, ry, start, end, step].
- `oval` is [x, y, rx, ry], `box` [left, top, right, bottom]; `cut` takes an outline out again.
- `colour` is the thing's own unless it is "darker 0.6", "lighter 0.4" or [red, green, blue]; `shade` is one of SHADES.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ...files import toml_beside
from ...records import Json

Pixels = NDArray[Any]
Layer = tuple[Pixels, Pixels]  # a thing at one size in one colour: its colours (times coverage) and its coverage
_Colour = Sequence[float]
_Point = Sequence[float]

_DETAIL = 480  # pixels along the longer side, from which every size is scaled
_LIGHT = (-0.48, -0.58, 0.66)  # where the light comes from, of length 1
_STROKES = ("line", "curve", "ring")
_FILES = ("things_worn", "things_in_scenes", "things_fruits")


def _mask(
    shape: dict[str, Any], kind: str, size: tuple[int, int], corner: _Point, scale: float
) -> NDArray[np.uint8]:
    mask = np.zeros(size, np.uint8)
    points = np.array(_outline(kind, shape[kind]))
    placed = np.rint((points - np.array(corner)) * scale * 16).astype(np.int32)  # 4 bits after the point
    if kind in _STROKES:
        thick = max(1, round(shape["width"] * scale))
        cv2.polylines(mask, [placed], False, 255, thick, cv2.LINE_AA, 4)
    else:
        cv2.fillPoly(mask, [placed], 255, cv2.LINE_AA, 4)
    return mask


def _fill(layer: Layer, mask: NDArray[np.uint8], colour: _Colour, shade: str, alpha: float) -> None:
    x, y, wide, high = cv2.boundingRect(mask)
    if not wide:
        return
    tint, cover = layer
    part = np.s_[y : y + high, x : x + wide]
    weight = mask[part].astype(np.float32) * (alpha / 255)
    u = np.linspace(-1, 1, wide, dtype=np.float32)[None]
    v = np.linspace(-1, 1, high, dtype=np.float32)[:, None]
    light, gleam = _SHADES[shade](u, v)
    lit = np.asarray(colour, np.float32) * light[..., None] + 255 * gleam[..., None]
    keep = 1 - weight
    tint[part] = tint[part] * keep[..., None] + np.clip(lit, 0, 255) * weight[..., None]
    cover[part] = cover[part] * keep + weight


def _outline(kind: str, numbers: Sequence[Any]) -> Sequence[_Point]:
    if kind == "oval":
        return _arc(*numbers)
    if kind == "box":
        left, top, right, bottom = numbers
        return [(left, top), (right, top), (right, bottom), (left, bottom)]
    points: list[_Point] = [point for row in numbers for point in ([row] if len(row) == 2 else _arc(*row))]
    if kind == "ring":
        line = _smooth(points, closed=True)
        return [*line, line[0]]
    return _smooth(points, closed=kind == "blob") if kind in ("blob", "curve") else points


def _arc(
    x: float, y: float, rx: float, ry: float, start: float = 0.0, end: float = 1.0, step: float = 1
) -> list[tuple[float, float]]:
    turns = np.linspace(start, end, 64) * 2 * np.pi
    return list(zip(x + rx * np.cos(turns), y + ry * np.sin(turns), strict=True))[:: int(step)]


def _smooth(points: Sequence[_Point], closed: bool) -> list[_Point]:
    knots = np.array(points, np.float64)
    ends = (knots[-1:], knots[:2]) if closed else (knots[:1], knots[-1:])
    padded = np.concatenate([ends[0], knots, ends[1]])
    t = np.linspace(0, 1, 12, endpoint=False)[:, None]
    parts = [
        b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
        for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False)
    ]
    line = np.concatenate(parts if closed else [*parts, knots[-1:]])
    return [(float(x), float(y)) for x, y in line]


def _colour_of(words: str | _Colour, thing_colour: _Colour) -> _Colour:
    if not isinstance(words, str):
        return words
    change, _, amount = words.partition(" ")
    by = float(amount or 0)
    if change == "darker":
        return [part * by for part in thing_colour]
    return [part + (255 - part) * by for part in thing_colour] if change == "lighter" else thing_colour


def _flat(u: Pixels, v: Pixels) -> Layer:
    none = np.zeros(np.broadcast_shapes(u.shape, v.shape), np.float32)
    return none + 1, none


def _slope(u: Pixels, v: Pixels) -> Layer:
    light = 1 - 0.2 * v - 0.1 * u
    return light, light * 0


def _ball(u: Pixels, v: Pixels) -> Layer:
    deep = np.sqrt(np.clip(1 - u * u - v * v, 0, 1))
    lit = np.clip(u * _LIGHT[0] + v * _LIGHT[1] + deep * _LIGHT[2], 0, 1)
    return 0.36 + 0.84 * lit, np.clip(lit, 0, 1) ** 40 * 0.75


def _tube(u: Pixels, v: Pixels) -> Layer:
    lit = np.clip(u * -0.55 + np.sqrt(np.clip(1 - u * u, 0, 1)) * 0.83, 0, 1) + v * 0
    return 0.45 + 0.65 * lit, lit**24 * 0.25


def _fold(u: Pixels, v: Pixels) -> Layer:
    light = 1 - 0.12 * v + 0.16 * np.sin(9 * u + 2.2 * v)
    return light, light * 0


# Light and highlight at each place of a shape's box: even, falling off to
# the lower right, a sphere, an upright cylinder, cloth with soft folds.
_SHADES = {"flat": _flat, "slope": _slope, "ball": _ball, "tube": _tube, "fold": _fold}
COLOURS: dict[str, _Colour] = toml_beside(__file__, "colours.toml")
COMMON = ("red", "blue", "green", "yellow", "black", "white", "brown", "pink", "gold", "grey")


@dataclass(frozen=True)
class Thing:
    """Worn things are drawn in units of the face's box, others with a width of one."""

    name: str
    shapes: Sequence[dict[str, Any]]
    frame: tuple[float, ...]  # left, top, right, bottom, in the thing's own units
    colours: tuple[str, ...]  # by preference; the first that stands out from what is behind it is used
    place: str  # worn, ground, table, wall or air
    size: float  # width as a share of the picture's short side; worn things follow the face
    words: tuple[str, ...]  # other names for it


@cache
def all_things() -> dict[str, Thing]:
    return {thing.name: thing for name in _FILES for thing in _read_things(toml_beside(__file__, f"{name}.toml"))}


def _read_things(tables: Json) -> Iterator[Thing]:
    for row in tables["things"]:
        shapes = row["shapes"] if "shapes" in row else tables["drawings"][row["drawing"]]
        frame, colours, words = (tuple(row.get(key, ())) for key in ("frame", "colours", "words"))
        for name in row["names"]:
            place, size = row.get("place", "worn"), row.get("size", 0.0)
            yield Thing(name, shapes, frame or (0, 0, 1, 1), colours, place, size, words)


@lru_cache(maxsize=64)
def draw_large(name: str, colour: str) -> Layer:
    thing = all_things()[name]
    left, top, right, bottom = thing.frame
    scale = _DETAIL / max(right - left, bottom - top)
    size = (round((bottom - top) * scale), round((right - left) * scale))
    tint, cover = np.zeros((*size, 3), np.float32), np.zeros(size, np.float32)
    for shape in thing.shapes:
        kind = next(iter(shape))
        mask = _mask(shape, kind, size, (left, top), scale)
        if kind == "cut":
            keep = 1 - mask.astype(np.float32) / 255
            cover *= keep
            tint *= keep[..., None]
        else:
            shade = shape.get("shade", "ball" if kind == "oval" else "slope")
            drawn_in = _colour_of(shape.get("colour", ""), COLOURS[colour])
            _fill((tint, cover), mask, drawn_in, shade, shape.get("alpha", 1.0))
    return tint, cover


@lru_cache(maxsize=128)
def draw_at_size(name: str, colour: str, width: int, height: int, mirrored: bool = False) -> Layer:
    large = draw_large(name, colour)
    way = cv2.INTER_AREA if width < large[1].shape[1] else cv2.INTER_LINEAR
    tint, cover = (cv2.resize(part, (width, height), interpolation=way) for part in large)
    if mirrored:
        return np.ascontiguousarray(tint[:, ::-1]), np.ascontiguousarray(cover[:, ::-1])
    return tint, cover


@lru_cache(maxsize=256)
def is_lopsided(name: str) -> bool:
    tint, _ = draw_large(name, all_things()[name].colours[0])
    return float(abs(tint - tint[:, ::-1]).mean()) > 0.2 * float(tint.mean())
