"""Laying a thing over a picture with its shadow, and taking shadow and glass off again by the same arithmetic."""

import cv2
import numpy
from numpy.typing import NDArray

from .drawing import Pixels
from .placing import Place
from .things import Look, Thing

SHADOW = {"worn": 0.3, "ground": 0.5, "table": 0.5, "wall": 0.35, "air": 0.0}


def reach(place: Place) -> int:
    """How far a thing's shadow goes beyond its outline, in pixels."""
    return max(3, round(0.22 * max(place[2], place[3])))


def shadow(thing: Thing, drawn: Look, place: Place) -> Pixels:
    """The darkness a thing casts, on its own box grown by its reach."""
    far = reach(place)
    cover = cv2.copyMakeBorder(drawn.cover, far, far, far, far, cv2.BORDER_CONSTANT, value=0)
    strength = SHADOW[thing.place]
    if not strength:
        return cover * 0
    if thing.place in ("ground", "table"):
        return strength * contact(drawn.cover, cover.shape, far)
    shift = max(1, far // 5), max(1, far // 3)
    moved = cv2.warpAffine(cover, numpy.array([[1, 0, shift[0]], [0, 1, shift[1]]], numpy.float32), cover.shape[::-1])
    return strength * cv2.GaussianBlur(moved, (0, 0), max(1.0, far / 7))


def contact(cover: Pixels, shape: tuple[int, ...], far: int) -> Pixels:
    """A soft pool under whatever touches the ground, drawn out to the right, away from the light."""
    height, width = cover.shape
    feet = numpy.flatnonzero(cover[-max(2, height // 8) :].max(0) > 0.5)
    first, last = (int(feet[0]), int(feet[-1])) if len(feet) else (0, width)
    pool = numpy.zeros(shape, numpy.float32)
    half = max(3.0, (last - first) / 2 * 1.1)
    centre = round(far + (first + last) / 2 + half * 0.2), round(far + height - half * 0.08)
    cv2.ellipse(pool, centre, (round(half * 1.1), max(2, round(half * 0.22))), 0, 0, 360, 1.0, -1, cv2.LINE_AA)
    return cv2.GaussianBlur(pool, (0, 0), max(1.0, half * 0.13))


def overlap(
    image: NDArray[numpy.uint8], left: int, top: int, shape: tuple[int, ...]
) -> tuple[tuple[slice, slice], ...]:
    """The part of the picture under a layer, and the part of the layer over the picture."""
    y0, y1 = max(0, top), min(image.shape[0], top + shape[0])
    x0, x1 = max(0, left), min(image.shape[1], left + shape[1])
    y1, x1 = max(y0, y1), max(x0, x1)
    return (slice(y0, y1), slice(x0, x1)), (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))


def lay(image: NDArray[numpy.uint8], thing: Thing, drawn: Look, place: Place) -> NDArray[numpy.uint8]:
    """The picture with the thing in it."""
    result = image.astype(numpy.float32)
    left, top = place[:2]
    dark = shadow(thing, drawn, place)
    far = reach(place)
    there, here = overlap(image, left - far, top - far, dark.shape)
    result[there] *= 1 - dark[here][..., None]
    there, here = overlap(image, left, top, drawn.cover.shape)
    result[there] = result[there] * (1 - drawn.cover[here][..., None]) + drawn.colour[here]
    return numpy.rint(result).clip(0, 255).astype(numpy.uint8)


def lift(
    image: NDArray[numpy.uint8], thing: Thing, drawn: Look, place: Place
) -> tuple[NDArray[numpy.uint8], NDArray[numpy.bool_]]:
    """The picture without shadow and glass, and the hole where the thing itself hid everything."""
    result = image.astype(numpy.float32)
    left, top = place[:2]
    hole = numpy.zeros(image.shape[:2], numpy.bool_)
    there, here = overlap(image, left, top, drawn.cover.shape)
    cover = drawn.cover[here][..., None]
    glass = numpy.minimum(cover, 0.6)
    result[there] = (result[there] - drawn.colour[here]) / (1 - glass)
    hole[there] = drawn.cover[here] > 0.3
    grow = 1 + round(0.002 * min(image.shape[:2]))
    hole = cv2.dilate(hole.astype(numpy.uint8), numpy.ones((grow * 2 + 1,) * 2, numpy.uint8)).astype(numpy.bool_)
    dark = shadow(thing, drawn, place)
    far = reach(place)
    there, here = overlap(image, left - far, top - far, dark.shape)
    result[there] /= 1 - dark[here][..., None]
    return numpy.rint(result).clip(0, 255).astype(numpy.uint8), hole
