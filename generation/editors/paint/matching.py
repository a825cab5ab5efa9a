"""How alike a thing, as it would be drawn, and a part of the picture are."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy

from . import placing
from .drawing import Pixels
from .placing import Place
from .things import Thing, look, master

RING = 2  # pixels around a thing that are looked at
SHAPE = 20  # pixels along the longer side of a thing without gaps while places are looked for
SEEN, RIM_SEEN = 0.4, 0.15  # the share of a thing, and of its surroundings, that has to be inside the picture
HOPE = 60.0  # grey levels above which no other size is tried
CLIMB = 3  # steps up or down the sizes at most, from the one that was tried
FEW, MANY = 200, 2000  # pixels of a thing that are compared, at first and in the end

Area = tuple[int, int, int, int]  # left, top, right, bottom; may reach beyond the picture
Views = dict[int, tuple[Pixels, Pixels]]  # an area made smaller, by the longer side of what is looked for


@dataclass(frozen=True)
class Found:
    """A thing of one colour at a place: how unlike it what is there is, and how unlike it what is around it is."""

    place: Place
    colour: str
    gap: float
    rim: float

    @property
    def score(self) -> float:
        """The lower the likelier: like the thing inside, unlike it outside, and rather larger than smaller."""
        return self.gap - 0.25 * min(self.rim, 45.0) - 25 * math.log(self.place[2])

    @property
    def promise(self) -> float:
        """The same from afar, where a size is only nearly right and what is around tells more."""
        return self.gap - 0.25 * min(self.rim, 150.0)


@dataclass(frozen=True)
class Shape:
    """What is compared: a thing's own colours, where it is solid, and the ring around it that should differ."""

    colour: Pixels
    solid: Pixels
    ring: Pixels


@lru_cache(maxsize=128)
def shape(name: str, colour: str, width: int, height: int, mirrored: bool) -> Shape:
    drawn = look(name, colour, width, height, mirrored)
    cover = cv2.copyMakeBorder(drawn.cover, *(RING,) * 4, cv2.BORDER_CONSTANT, value=0)
    tint = cv2.copyMakeBorder(drawn.colour, *(RING,) * 4, cv2.BORDER_CONSTANT, value=0)
    firm = 0.4 if max(width, height) < 60 else 0.75
    solid = (cover > firm).astype(numpy.float32)
    wide = (2 * RING + 1, 2 * RING + 1)
    ring = ((cv2.dilate(solid, numpy.ones(wide, numpy.uint8)) > 0) & (cover < 0.25)).astype(numpy.float32)
    spread = cv2.blur(tint * solid[..., None], wide) / numpy.clip(cv2.blur(cover * solid, wide), 1e-3, None)[..., None]
    own = tint / numpy.clip(cover, 0.05, None)[..., None]
    return Shape(numpy.where(solid[..., None] > 0, own, spread).astype(numpy.float32), solid, ring)


def coarseness(thing: Thing, longer: int) -> float:
    """The scale at which places are looked for: the thinner a thing, the finer."""
    cover = master(thing.name, thing.colours[0]).cover
    return min(1.0, SHAPE / max(0.3, float((cover > 0.6).mean())) ** 0.7 / longer)


def view(image: Pixels, area: Area, scale: float) -> tuple[Pixels, Pixels]:
    """An area made smaller, black outside the picture, and which share of each pixel is inside it."""
    left, top, right, bottom = area
    height, width = image.shape[:2]
    part = image[max(0, top) : max(0, bottom), max(0, left) : max(0, right)]
    pads = max(0, -top), max(0, bottom - height), max(0, -left), max(0, right - width)
    size = max(1, round((right - left) * scale)), max(1, round((bottom - top) * scale))
    layers = part, numpy.ones(part.shape[:2], numpy.uint8)
    seen = [cv2.copyMakeBorder(layer, *pads, cv2.BORDER_CONSTANT, value=0) for layer in layers]
    small, inside = (cv2.resize(layer.astype(numpy.float32), size, interpolation=cv2.INTER_AREA) for layer in seen)
    inside = (inside > 0.99).astype(numpy.float32)
    return small * inside[..., None], inside


def spots(
    image: Pixels,
    area: Area,
    thing: Thing,
    size: tuple[int, int, bool],
    colour: str,
    views: Views,
) -> Iterator[Found]:
    """The two likeliest places in an area for a thing of one size, one colour and one way round."""
    width, height, mirrored = size
    longer = max(width, height)
    scale = coarseness(thing, longer)
    small = shape(thing.name, colour, max(3, round(width * scale)), max(3, round(height * scale)), mirrored)
    if longer not in views:
        views[longer] = view(image, area, scale)
    if any(have < need for have, need in zip(views[longer][1].shape, small.solid.shape, strict=True)):
        return
    gap = unlike(*views[longer], small.colour, small.solid, 255.0)
    rim = unlike(*views[longer], small.colour, small.ring, 0.0)
    score = gap - 0.25 * numpy.minimum(rim, 150)
    for _ in range(2):
        row, column = (int(v) for v in numpy.unravel_index(int(score.argmin()), score.shape))
        corner = area[0] + round((column + RING) / scale), area[1] + round((row + RING) / scale)
        yield Found((*corner, width, height, mirrored), colour, float(gap[row, column]), float(rim[row, column]))
        score[max(0, row - 3) : row + 4, max(0, column - 3) : column + 4] = numpy.inf


def unlike(image: Pixels, inside: Pixels, colour: Pixels, mask: Pixels, unseen: float) -> Pixels:
    """Grey levels between the masked colours and the picture at every place, what is outside it left out."""
    # The square of a difference, multiplied out, is two plain correlations: a third faster than OpenCV's masked one.
    weighted = colour * mask[..., None]
    squares: Pixels = cv2.matchTemplate(numpy.square(image).sum(2), mask, cv2.TM_CCORR)
    squares += numpy.square(weighted).sum() - 2 * cv2.matchTemplate(image, weighted, cv2.TM_CCORR)
    count = mask.sum()
    if inside.min() < 1:
        squares -= cv2.matchTemplate(1 - inside, numpy.square(colour).sum(2) * mask, cv2.TM_CCORR)
        count = cv2.matchTemplate(inside, mask, cv2.TM_CCORR)
    level = numpy.sqrt(numpy.maximum(squares, 0) / numpy.maximum(1.0, 3 * count))
    least = SEEN if unseen else RIM_SEEN
    return numpy.where(count < least * mask.sum(), numpy.float32(unseen), level)


def approach(image: Pixels, thing: Thing, found: Found) -> Found:
    """The same size at its best place nearby."""
    return settle(image, thing, found, roughness(thing, found), FEW)


def roughness(thing: Thing, found: Found) -> int:
    """How many pixels a place seen from afar may be off."""
    return max(1, round(0.75 / coarseness(thing, max(found.place[2:4]))))


def climb(image: Pixels, thing: Thing, best: Found) -> Found:
    """From size to size while the next one is likelier."""
    for _ in range(CLIMB if best.gap < HOPE else 0):
        left, top, width, height, mirrored = best.place
        near = [best]
        for step in (-1, 1):
            wide, tall = placing.neighbour(thing, min(image.shape[:2]), width, step)
            start = left + (width - wide) // 2, top + (height - tall) // 2
            other = replace(best, place=(*start, wide, tall, mirrored))
            near.append(settle(image, thing, other, roughness(thing, best) + abs(tall - height) // 2, FEW))
        likeliest = min(near, key=lambda one: one.score)
        if likeliest is best:
            break
        best = likeliest
    return best


def settle(image: Pixels, thing: Thing, found: Found, far: int, samples: int) -> Found:
    """The best of the places within so many pixels, first by larger strides."""
    left, top, width, height, mirrored = found.place
    large = shape(thing.name, found.colour, width, height, mirrored)
    inside, outside = (sampled(large, mask, samples) for mask in (large.solid, large.ring))
    stride = max(1, far // 3)
    best = replace(found, gap=numpy.inf)
    around = [(dy, dx) for dy in range(-far, far + 1, stride) for dx in range(-far, far + 1, stride)]
    centre = left, top
    while True:
        for dy, dx in around:
            x, y = centre[0] + dx, centre[1] + dy
            gap = compared(image, x - RING, y - RING, inside, 255.0)
            if gap > best.gap + 12:  # too unlike for any rim to make up for it
                continue
            rim = compared(image, x - RING, y - RING, outside, 0.0)
            one = Found((x, y, width, height, mirrored), found.colour, gap, rim)
            best = one if one.score < best.score else best
        if stride == 1:
            return best
        stride = max(1, stride // 2)
        centre = best.place[0], best.place[1]
        around = [(dy, dx) for dy in (-stride, 0, stride) for dx in (-stride, 0, stride)]


def sampled(large: Shape, mask: Pixels, count: int) -> tuple[Pixels, Pixels, Pixels]:
    """Rows, columns and colours of evenly spread pixels of a mask."""
    rows, columns = numpy.nonzero(mask)
    step = max(1, len(rows) // count)
    return rows[::step], columns[::step], large.colour[rows[::step], columns[::step]]


def compared(image: Pixels, left: int, top: int, spread: tuple[Pixels, Pixels, Pixels], unseen: float) -> float:
    """Grey levels between colours and the picture under them, as far as they lie inside it."""
    rows, columns, colours = spread
    y, x = rows + top, columns + left
    seen = (y >= 0) & (y < image.shape[0]) & (x >= 0) & (x < image.shape[1])
    if not seen.all():
        if seen.sum() < max(1, (SEEN if unseen else RIM_SEEN) * len(rows)):
            return unseen
        y, x, colours = y[seen], x[seen], colours[seen]
    return float(numpy.square(image[y, x] - colours).mean()) ** 0.5
