"""Draws scenes: the picture, and the mask of each thing. Whole numbers alone, so the pixels are the same anywhere.

Shapes are polygons on a canvas of four times the size, then
averaged. Words are in Aileron, which comes with Pillow.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import cast

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from ...files import toml_beside
from ...pictures import decode, fit_to
from ...sources import catalogue
from ...sources.synthetic import across, flat, fractal, mix
from .scenes import Scene, Thing

_Point = tuple[int, int]
_FINE = 4  # as many dots of the canvas across a pixel
_LINE, _EDGE = (40, 40, 40), 7  # the outline's colour, and its width in thousandths of the picture
_INK = (20, 20, 20)
_PLAINS = ((226, 222, 212), (206, 220, 228), (224, 212, 220), (212, 222, 204))
_CLOTHS = (((196, 186, 168), (232, 226, 212)), ((170, 186, 196), (222, 228, 232)))
_SHADOW, _SHADE = 10, 77  # how far a shadow falls, in thousandths, and how dark, of 256
_TEXT, _CARD = 90, 120  # the height of letters' em and of cards, in thousandths
_CROSS = ([(-460, -460), (460, 460)], [(460, -460), (-460, 460)])


def _ring(*radii: int, points: int) -> str:
    """Points around a centre, at these distances in turn."""
    turns = [(radii[k % len(radii)], 2 * math.pi * k / points) for k in range(points)]
    return " ".join(
        f"{round(radius * math.sin(turn))},{round(-radius * math.cos(turn))}" for radius, turn in turns
    )


_DATA = toml_beside(__file__, "shapes.toml")
_SHAPES = {**_DATA["shapes"], "circle": _ring(500, points=48), "star": _ring(500, 200, points=10)}


@lru_cache
def _polygons(kind: str, size: int) -> list[list[_Point]]:
    if kind == "card":  # as wide as it says, and always as high
        half = 500 * _CARD // size
        return [[(-500, -half), (500, -half), (500, half), (-500, half)]]
    pairs = [[point.split(",") for point in part.split()] for part in _SHAPES[kind].split("|")]
    return [[(int(x), int(y)) for x, y in points] for points in pairs]


@lru_cache(64)
def draw_scene(scene: Scene, side: int) -> Image.Image:
    picture = _ground(scene.ground, side).copy()
    for thing in scene.things:
        _Patch(thing, side).draw(picture, has_shadow=scene.level > 1 and thing.kind != "card")
    return picture


def thing_mask(thing: Thing, side: int) -> np.ndarray:
    mask, patch = np.zeros((side, side), bool), _Patch(thing, side)
    mask[patch.top : patch.top + patch.width, patch.left : patch.left + patch.width] = (
        np.asarray(patch.filled(patch.outline)) > 127
    )[: side - patch.top, : side - patch.left]
    return mask


class _Patch:
    """The square of a picture that one thing covers, with a fine canvas for its edges."""

    def __init__(self, thing: Thing, side: int):
        self.thing, self.side = thing, side
        reach = thing.size * 3 // 4 + _EDGE
        self.left, self.top = (max(0, (place - reach) * side // 1000) for place in (thing.x, thing.y))
        self.width = 2 * reach * side // 1000 + 2
        self.outline, *self.details = map(self._placed, _polygons(thing.kind, thing.size))

    def _placed(self, points: Sequence[_Point]) -> list[_Point]:
        """Points of a shape on the canvas: turned, mirrored, and at the thing's place and size."""
        thing, fine = self.thing, _FINE * self.side
        cos, sin = (round(4096 * turn(math.radians(thing.angle))) for turn in (math.cos, math.sin))
        flip = -1 if thing.mirrored else 1
        turned = [(flip * x * cos - y * sin, flip * x * sin + y * cos) for x, y in points]
        return [
            (
                (thing.x * 1000 + (x * thing.size >> 12)) * fine // 1_000_000 - self.left * _FINE,
                (thing.y * 1000 + (y * thing.size >> 12)) * fine // 1_000_000 - self.top * _FINE,
            )
            for x, y in turned
        ]

    def draw(self, picture: Image.Image, has_shadow: bool) -> None:
        if has_shadow:
            away = _SHADOW * self.side // 1000
            shadow = self.filled(self.outline).point([value * _SHADE // 256 for value in range(256)])
            picture.paste((0, 0, 0), (self.left + away, self.top + away), shadow)
        colour = fill_of(self.thing)
        self._paste(picture, colour, self.filled(self.outline))
        for points in self.details:
            self._paste(picture, tuple(part * 5 // 8 for part in colour), self.filled(points))
        self._paste(picture, _LINE, self._lines([*self.outline, *self.outline[:2]]))
        if self.thing.text:
            self._paste(picture, _INK, self._written())
        if self.thing.crossed:
            for points in _CROSS:
                self._paste(picture, _INK, self._lines(self._placed(points), 3))

    def _paste(self, picture: Image.Image, colour: tuple[int, ...], mask: Image.Image) -> None:
        picture.paste(colour, (self.left, self.top), mask)

    def _drawn(self, draw: Callable[[ImageDraw.ImageDraw], None]) -> Image.Image:
        canvas = Image.new("L", (self.width * _FINE, self.width * _FINE))
        draw(ImageDraw.Draw(canvas))
        return canvas.reduce(_FINE)

    def filled(self, points: list[_Point]) -> Image.Image:
        return self._drawn(lambda canvas: canvas.polygon(points, fill=255))

    def _lines(self, points: list[_Point], times: int = 1) -> Image.Image:
        width = max(_FINE, times * _EDGE * _FINE * self.side // 1000)
        return self._drawn(lambda canvas: canvas.line(points, fill=255, width=width, joint="curve"))

    def _written(self) -> Image.Image:
        font = _font().font_variant(size=_TEXT * _FINE * self.side // 1000)
        [middle] = self._placed([(0, 0)])
        return self._drawn(lambda canvas: canvas.text(middle, self.thing.text, fill=255, font=font, anchor="mm"))


def fill_of(thing: Thing) -> tuple[int, ...]:
    """What fills a thing, whose colour is a name of the palette or #rrggbb."""
    colour = ImageColor.getrgb(_DATA["palette"].get(thing.colour, thing.colour))
    if thing.tone == "light":
        return tuple((part + 255) // 2 for part in colour)
    if thing.tone == "grey":
        return (sum(weight * part for weight, part in zip((77, 150, 29), colour, strict=True)) >> 8,) * 3
    return colour


@lru_cache(1)
def _font() -> ImageFont.FreeTypeFont:
    """With the basic layout: the other one depends on a library of the machine."""
    font = cast(ImageFont.FreeTypeFont, ImageFont.load_default(size=10))
    return font.font_variant(layout_engine=ImageFont.Layout.BASIC)


@lru_cache(16)
def _ground(name: str, side: int) -> Image.Image:
    kind, _, number = name.partition(":")
    if kind == "plain":
        return Image.new("RGB", (side, side), _PLAINS[int(number)])
    if kind == "cloth":
        dark, bright = _CLOTHS[int(number)]
        folds = fractal(*across(side, side), 6, 6, 5, (32, int(number)))
        pixels = mix(flat(side, side, dark), bright, folds)
        return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    photograph = fit_to(decode(catalogue.read(name)), (side, side))
    return photograph.point(lambda value: 112 + value // 2)  # paler, so that things stand out
