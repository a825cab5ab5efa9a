"""Finds the face, places an addition, draws it with its shadow, and takes shadow and glass off again."""

import math
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from .drawing import Layer, Pixels, Thing, draw_at_size, is_lopsided

_WINDOW = 24  # pixels of the cascade's own window
_LOOKS = ((128, 0), (192, 0), (128, 17), (128, -17))  # short sides in pixels and tilts in degrees to search at
LADDER = 1.06  # the ratio between neighbouring face sizes, so that a search has few sizes to try
# Shares of the height.
_LEVELS = {"ground": (0.84, 0.97), "table": (0.74, 0.9), "wall": (0.12, 0.3), "air": (0.1, 0.4)}
_SIDES = {"left": (0.0, 0.32), "right": (0.68, 1.0), "middle": (0.36, 0.64), "": (0.08, 0.92)}
_SHADOW = {"worn": 0.3, "ground": 0.5, "table": 0.5, "wall": 0.35, "air": 0.0}

Face = tuple[float, float, float]  # left, top and side of a square from mid-forehead to chin
Place = tuple[int, int, int, int, bool]  # left, top, width, height, mirrored


@cache
def _cascade() -> Any:
    import skimage.data
    from skimage.feature import Cascade

    return Cascade(str(Path(skimage.data.__file__).parent / "lbpcascade_frontalface_opencv.xml"))


@lru_cache(maxsize=64)  # a call may search a picture twice, and exact undos show it again
def _boxes(pixels: bytes, shape: tuple[int, ...]) -> list[dict[str, int]]:
    boxes: list[dict[str, int]] = _cascade().detect_multi_scale(
        np.frombuffer(pixels, np.uint8).reshape(shape), 1.15, 1, (_WINDOW, _WINDOW), (min(shape[:2]),) * 2
    )
    return boxes


def find_face(image: Pixels) -> Face | None:
    height, width = image.shape[:2]
    for side, tilt in _LOOKS:
        scale = min(1.0, side / min(height, width))
        small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        middle = (small.shape[1] / 2, small.shape[0] / 2)
        upright, back = (cv2.getRotationMatrix2D(middle, angle, 1.0) for angle in (tilt, -tilt))
        turned = small if not tilt else cv2.warpAffine(small, upright, small.shape[1::-1])
        if boxes := _boxes(turned.tobytes(), turned.shape):
            width = small.shape[1]  # of several the largest; one at the picture's side counts half
            best = max(boxes, key=lambda b: b["width"] * (1 - abs((b["c"] + b["width"] / 2) / width - 0.5)))
            size = LADDER ** _rung(best["width"] / scale)
            x, y = back @ (best["c"] + best["width"] / 2, best["r"] + best["height"] / 2, 1)
            return x / scale - size / 2, y / scale - size / 2, size
    return None


def assumed_face(image: Pixels) -> Face:
    size = LADDER ** _rung(0.36 * min(image.shape[:2]))
    return image.shape[1] * 0.5 - size / 2, image.shape[0] * 0.2, size


def _rung(size: float) -> int:
    return round(math.log(size) / math.log(LADDER))


def place_for(image: Pixels, thing: Thing, side: str, chance: np.random.Generator) -> Place:
    if thing.place == "worn":
        return on_face(find_face(image) or assumed_face(image), thing)
    return _in_scene(image, thing, side, chance)


def on_face(face: Face, thing: Thing) -> Place:
    (x, y, size), (left, top, right, bottom) = face, thing.frame
    width, height = round((right - left) * size), round((bottom - top) * size)
    above = max(round(y + top * size), -height // 2)  # at least half of a hat is visible
    return round(x + left * size), above, width, height, False


def size_of(thing: Thing, short: int, step: int) -> tuple[int, int]:
    left, top, right, bottom = thing.frame
    width = thing.size * short * LADDER**step
    return max(8, round(width)), max(8, round(width * (bottom - top) / (right - left)))


def neighbour(thing: Thing, short: int, width: int, step: int) -> tuple[int, int]:
    left, _, right, _ = thing.frame
    if thing.place == "worn":
        size = LADDER ** (_rung(width / (right - left)) + step)
        return on_face((0, 0, size), thing)[2:4]
    return size_of(thing, short, _rung(width / (thing.size * short)) + step)


def _in_scene(image: Pixels, thing: Thing, side: str, chance: np.random.Generator) -> Place:
    height, width = image.shape[:2]
    short = min(width, height)
    wide, tall = size_of(thing, short, int(chance.integers(-1, 2)))
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    scale = 96 / short
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA).astype(np.float32)
    busy = abs(cv2.Sobel(small, cv2.CV_32F, 1, 0)) + abs(cv2.Sobel(small, cv2.CV_32F, 0, 1))
    total = cv2.integral(busy)
    low, high = _SIDES[side]
    best, least = (0, 0), np.inf
    for _ in range(24):
        x = low + (high - low) * chance.random()
        level = _LEVELS[thing.place]
        y = level[0] + (level[1] - level[0]) * chance.random()
        left = int(np.clip(x * width - wide / 2, 2, max(2, width - wide - 2)))
        bottom = y * height + (tall if thing.place in ("wall", "air") else 0)
        top = int(np.clip(bottom - tall, 2, max(2, height - tall - 2)))
        x0, y0, x1, y1 = (int(v * scale) for v in (left, top, left + wide, top + tall))
        x1, y1 = min(x1, busy.shape[1]), min(y1, busy.shape[0])
        load = float(total[y1, x1] - total[y0, x1] - total[y1, x0] + total[y0, x0])
        load /= max(1, (x1 - x0) * (y1 - y0))
        if load < least:
            best, least = (left, top), load
    return (*best, wide, tall, bool(chance.integers(2)) and is_lopsided(thing.name))


def standing_out(image: Pixels, thing: Thing, place: Place) -> str:
    left, top, width, height, mirrored = place
    rows = np.clip(np.arange(top, top + height), 0, image.shape[0] - 1)
    columns = np.clip(np.arange(left, left + width), 0, image.shape[1] - 1)
    behind = image[rows[:, None], columns[None]].astype(np.float32)
    gaps = {}
    for colour in thing.colours:
        tint, cover = draw_at_size(thing.name, colour, width, height, mirrored)
        weight = cover[..., None]
        gap = abs(tint - behind * weight).sum() / max(1.0, float(weight.sum()) * 3)
        if gap > 60:
            return colour
        gaps[colour] = float(gap)
    return max(gaps, key=lambda colour: gaps[colour])


def _reach(place: Place) -> int:
    return max(3, round(0.22 * max(place[2], place[3])))


def _shadow(thing: Thing, solid: Pixels, place: Place) -> Pixels:
    far, strength = _reach(place), _SHADOW[thing.place]
    cover = cv2.copyMakeBorder(solid, far, far, far, far, cv2.BORDER_CONSTANT, value=0)
    if not strength:
        return cover * 0
    if thing.place in ("ground", "table"):
        return strength * _contact(solid, cover.shape, far)
    shift = max(1, far // 5), max(1, far // 3)
    moved = cv2.warpAffine(cover, np.array([[1, 0, shift[0]], [0, 1, shift[1]]], np.float32), cover.shape[::-1])
    return strength * cv2.GaussianBlur(moved, (0, 0), max(1.0, far / 7))


def _contact(cover: Pixels, shape: tuple[int, ...], far: int) -> Pixels:
    height, width = cover.shape
    feet = np.flatnonzero(cover[-max(2, height // 8) :].max(0) > 0.5)
    first, last = (int(feet[0]), int(feet[-1])) if len(feet) else (0, width)
    pool = np.zeros(shape, np.float32)
    half = max(3.0, (last - first) / 2 * 1.1)
    centre = round(far + (first + last) / 2 + half * 0.2), round(far + height - half * 0.08)
    cv2.ellipse(pool, centre, (round(half * 1.1), max(2, round(half * 0.22))), 0, 0, 360, 1.0, -1, cv2.LINE_AA)
    return cv2.GaussianBlur(pool, (0, 0), max(1.0, half * 0.13))


def overlap(image: Pixels, left: int, top: int, shape: tuple[int, ...]) -> tuple[tuple[slice, slice], ...]:
    """The part of the picture under a layer, and the part of the layer over it."""
    y0, y1 = max(0, top), min(image.shape[0], top + shape[0])
    x0, x1 = max(0, left), min(image.shape[1], left + shape[1])
    y1, x1 = max(y0, y1), max(x0, x1)
    return (slice(y0, y1), slice(x0, x1)), (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))


def composite(image: Pixels, thing: Thing, drawn: Layer, place: Place) -> Pixels:
    result, (tint, cover) = image.astype(np.float32), drawn
    left, top = place[:2]
    dark, far = _shadow(thing, cover, place), _reach(place)
    target, layer = overlap(image, left - far, top - far, dark.shape)
    result[target] *= 1 - dark[layer][..., None]
    target, layer = overlap(image, left, top, cover.shape)
    result[target] = result[target] * (1 - cover[layer][..., None]) + tint[layer]
    return np.rint(result).clip(0, 255).astype(np.uint8)


def uncomposite(image: Pixels, thing: Thing, drawn: Layer, place: Place) -> tuple[Pixels, NDArray[np.bool_]]:
    """The picture without shadow and glass, and the hole of the solid part."""
    result, (tint, cover) = image.astype(np.float32), drawn
    left, top = place[:2]
    hole = np.zeros(image.shape[:2], np.bool_)
    target, layer = overlap(image, left, top, cover.shape)
    glass = np.minimum(cover[layer][..., None], 0.6)
    result[target] = (result[target] - tint[layer]) / (1 - glass)
    hole[target] = cover[layer] > 0.3
    grow = 1 + round(0.002 * min(image.shape[:2]))
    hole = cv2.dilate(hole.astype(np.uint8), np.ones((grow * 2 + 1,) * 2, np.uint8)).astype(np.bool_)
    dark, far = _shadow(thing, cover, place), _reach(place)
    target, layer = overlap(image, left - far, top - far, dark.shape)
    result[target] /= 1 - dark[layer][..., None]
    return np.rint(result).clip(0, 255).astype(np.uint8), hole
