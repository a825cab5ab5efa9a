"""Finding what was added, from the picture alone: by comparing it with what would be drawn, size by size."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np

from . import faces, placing
from .drawing import COMMON, Pixels, Thing, draw_at_size, draw_large, is_lopsided
from .placing import Place

RING = 2  # pixels around a thing that are looked at
SHAPE = 20  # pixels along the longer side of a thing without gaps while places are looked for
SEEN, RIM_SEEN = 0.4, 0.15  # the share of a thing, and of its surroundings, that has to be inside the picture
HOPE = 60.0  # grey levels above which no other size is tried
CLIMB = 3  # steps up or down the sizes at most, from the one that was tried
FEW, MANY = 200, 2000  # pixels of a thing that are compared, at first and in the end

Area = tuple[int, int, int, int]  # left, top, right, bottom; may reach beyond the picture
Shrunk = dict[int, tuple[Pixels, Pixels]]  # an area made smaller, by the longer side of what is looked for


@dataclass(frozen=True)
class Match:
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
    def score_from_afar(self) -> float:
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
    drawn = draw_at_size(name, colour, width, height, mirrored)
    cover = cv2.copyMakeBorder(drawn.cover, *(RING,) * 4, cv2.BORDER_CONSTANT, value=0)
    tint = cv2.copyMakeBorder(drawn.colour, *(RING,) * 4, cv2.BORDER_CONSTANT, value=0)
    firm = 0.4 if max(width, height) < 60 else 0.75
    solid = (cover > firm).astype(np.float32)
    wide = (2 * RING + 1, 2 * RING + 1)
    ring = ((cv2.dilate(solid, np.ones(wide, np.uint8)) > 0) & (cover < 0.25)).astype(np.float32)
    spread = cv2.blur(tint * solid[..., None], wide) / np.clip(cv2.blur(cover * solid, wide), 1e-3, None)[..., None]
    own = tint / np.clip(cover, 0.05, None)[..., None]
    return Shape(np.where(solid[..., None] > 0, own, spread).astype(np.float32), solid, ring)


def coarseness(thing: Thing, longer: int) -> float:
    """The scale at which places are looked for: the thinner a thing, the finer."""
    cover = draw_large(thing.name, thing.colours[0]).cover
    return min(1.0, SHAPE / max(0.3, float((cover > 0.6).mean())) ** 0.7 / longer)


def shrink(image: Pixels, area: Area, scale: float) -> tuple[Pixels, Pixels]:
    """An area made smaller, black outside the picture, and which share of each pixel is inside it."""
    left, top, right, bottom = area
    height, width = image.shape[:2]
    part = image[max(0, top) : max(0, bottom), max(0, left) : max(0, right)]
    pads = max(0, -top), max(0, bottom - height), max(0, -left), max(0, right - width)
    size = max(1, round((right - left) * scale)), max(1, round((bottom - top) * scale))
    layers = part, np.ones(part.shape[:2], np.uint8)
    seen = [cv2.copyMakeBorder(layer, *pads, cv2.BORDER_CONSTANT, value=0) for layer in layers]
    small, inside = (cv2.resize(layer.astype(np.float32), size, interpolation=cv2.INTER_AREA) for layer in seen)
    inside = (inside > 0.99).astype(np.float32)
    return small * inside[..., None], inside


def likely_places(
    image: Pixels,
    area: Area,
    thing: Thing,
    size: tuple[int, int, bool],
    colour: str,
    shrunk: Shrunk,
) -> Iterator[Match]:
    """The two likeliest places in an area for a thing of one size, one colour and one way round."""
    width, height, mirrored = size
    longer = max(width, height)
    scale = coarseness(thing, longer)
    small = shape(thing.name, colour, max(3, round(width * scale)), max(3, round(height * scale)), mirrored)
    if longer not in shrunk:
        shrunk[longer] = shrink(image, area, scale)
    if any(have < need for have, need in zip(shrunk[longer][1].shape, small.solid.shape, strict=True)):
        return
    gap = difference_map(*shrunk[longer], small.colour, small.solid, 255.0)
    rim = difference_map(*shrunk[longer], small.colour, small.ring, 0.0)
    score = gap - 0.25 * np.minimum(rim, 150)
    for _ in range(2):
        row, column = (int(v) for v in np.unravel_index(int(score.argmin()), score.shape))
        corner = area[0] + round((column + RING) / scale), area[1] + round((row + RING) / scale)
        yield Match((*corner, width, height, mirrored), colour, float(gap[row, column]), float(rim[row, column]))
        score[max(0, row - 3) : row + 4, max(0, column - 3) : column + 4] = np.inf


def difference_map(image: Pixels, inside: Pixels, colour: Pixels, mask: Pixels, unseen: float) -> Pixels:
    """Grey levels between the masked colours and the picture at every place, what is outside it left out."""
    # The square of a difference, multiplied out, is two plain correlations: a third faster than OpenCV's masked one.
    weighted = colour * mask[..., None]
    squares: Pixels = cv2.matchTemplate(np.square(image).sum(2), mask, cv2.TM_CCORR)
    squares += np.square(weighted).sum() - 2 * cv2.matchTemplate(image, weighted, cv2.TM_CCORR)
    count = mask.sum()
    if inside.min() < 1:
        squares -= cv2.matchTemplate(1 - inside, np.square(colour).sum(2) * mask, cv2.TM_CCORR)
        count = cv2.matchTemplate(inside, mask, cv2.TM_CCORR)
    level = np.sqrt(np.maximum(squares, 0) / np.maximum(1.0, 3 * count))
    least = SEEN if unseen else RIM_SEEN
    return np.where(count < least * mask.sum(), np.float32(unseen), level)


def refine(image: Pixels, thing: Thing, found: Match) -> Match:
    """The same size at its best place nearby."""
    return best_nearby(image, thing, found, uncertainty(thing, found), FEW)


def uncertainty(thing: Thing, found: Match) -> int:
    """How many pixels a place seen from afar may be off."""
    return max(1, round(0.75 / coarseness(thing, max(found.place[2:4]))))


def best_size(image: Pixels, thing: Thing, best: Match) -> Match:
    """From size to size while the next one is likelier."""
    for _ in range(CLIMB if best.gap < HOPE else 0):
        left, top, width, height, mirrored = best.place
        near = [best]
        for step in (-1, 1):
            wide, tall = placing.neighbour(thing, min(image.shape[:2]), width, step)
            start = left + (width - wide) // 2, top + (height - tall) // 2
            other = replace(best, place=(*start, wide, tall, mirrored))
            near.append(best_nearby(image, thing, other, uncertainty(thing, best) + abs(tall - height) // 2, FEW))
        likeliest = min(near, key=lambda one: one.score)
        if likeliest is best:
            break
        best = likeliest
    return best


def best_nearby(image: Pixels, thing: Thing, found: Match, far: int, samples: int) -> Match:
    """The best of the places within so many pixels, first by larger strides."""
    left, top, width, height, mirrored = found.place
    large = shape(thing.name, found.colour, width, height, mirrored)
    inside, outside = (sample(large, mask, samples) for mask in (large.solid, large.ring))
    stride = max(1, far // 3)
    best = replace(found, gap=np.inf)
    around = [(dy, dx) for dy in range(-far, far + 1, stride) for dx in range(-far, far + 1, stride)]
    centre = left, top
    while True:
        for dy, dx in around:
            x, y = centre[0] + dx, centre[1] + dy
            gap = difference(image, x - RING, y - RING, inside, 255.0)
            if gap > best.gap + 12:  # too unlike for any rim to make up for it
                continue
            rim = difference(image, x - RING, y - RING, outside, 0.0)
            one = Match((x, y, width, height, mirrored), found.colour, gap, rim)
            best = one if one.score < best.score else best
        if stride == 1:
            return best
        stride = max(1, stride // 2)
        centre = best.place[0], best.place[1]
        around = [(dy, dx) for dy in (-stride, 0, stride) for dx in (-stride, 0, stride)]


def sample(large: Shape, mask: Pixels, count: int) -> tuple[Pixels, Pixels, Pixels]:
    """Rows, columns and colours of evenly spread pixels of a mask."""
    rows, columns = np.nonzero(mask)
    step = max(1, len(rows) // count)
    return rows[::step], columns[::step], large.colour[rows[::step], columns[::step]]


def difference(image: Pixels, left: int, top: int, spread: tuple[Pixels, Pixels, Pixels], unseen: float) -> float:
    """Grey levels between colours and the picture under them, as far as they lie inside it."""
    rows, columns, colours = spread
    y, x = rows + top, columns + left
    seen = (y >= 0) & (y < image.shape[0]) & (x >= 0) & (x < image.shape[1])
    if not seen.all():
        if seen.sum() < max(1, (SEEN if unseen else RIM_SEEN) * len(rows)):
            return unseen
        y, x, colours = y[seen], x[seen], colours[seen]
    return float(np.square(image[y, x] - colours).mean()) ** 0.5


MOST_GAP = 30.0  # grey levels between a thing and what is there, above which it is not there
RIM = 12.0  # grey levels between a thing's edge and what is around it, below which nothing stands there
FAR = 75.0  # the same from afar, where thin parts are mixed with what is behind them
SURE = 14.0  # grey levels below which no other place needs to be looked at
MOST, BEST = 10, 3  # places that are looked at more closely, and closest


def find_thing(image: Pixels, thing: Thing, colours: Sequence[str]) -> Match | None:
    """Where the thing is, or None; first where it would be put now, then anywhere."""
    likely: list[Match] = []
    for area, sizes in search_areas(image, thing):
        likely += search(image, area, thing, sizes, colours)
        if likely and is_sure(likely[-1]):
            return likely[-1]
    return min(likely, key=lambda found: found.score_from_afar, default=None)


def is_sure(found: Match) -> bool:
    """Whether a place is so likely that no other needs to be looked at."""
    return found.gap < SURE and found.rim > 3 * RIM


def find_in_any_colour(image: Pixels, thing: Thing) -> Match | None:
    """Where the thing is in a colour that it has on request only."""
    colours = [colour for colour in COMMON if colour not in thing.colours]
    area, sizes = next(search_areas(image, thing))
    return next(iter(search(image, area, thing, sizes[::2] if thing.place == "worn" else sizes, colours)), None)


def search_areas(image: Pixels, thing: Thing) -> Iterator[tuple[Area, list[tuple[int, int]]]]:
    """Where to look, and for which sizes."""
    height, width = image.shape[:2]
    short = min(width, height)

    def whole(over: int) -> Area:
        return (-over, -over, width + over, height + over)

    if thing.place != "worn":
        yield whole(short // 16), [placing.size_of(thing, short, step) for step in (-1, 0, 1)]
        return
    face = faces.find_face(image)
    yield area_around(face, thing), worn_sizes(thing, face.size, range(-4, 5))
    if face.found:
        yield area_around(faces.assumed_face(image), thing), worn_sizes(thing, faces.usual_size(image), range(-1, 2))
    yield whole(short // 6), worn_sizes(thing, faces.usual_size(image), range(-20, 9, 2))


def area_around(face: faces.Face, thing: Thing) -> Area:
    left, top, wide, tall, _ = placing.on_face(face, thing)
    far = round(0.3 * face.size)
    return left - far, top - far, left + wide + far, top + tall + far


def worn_sizes(thing: Thing, size: float, steps: Iterable[int]) -> list[tuple[int, int]]:
    return [placing.on_face(faces.Face(0, 0, size * faces.LADDER**step), thing)[2:4] for step in steps]


def search(
    image: Pixels, area: Area, thing: Thing, sizes: Iterable[tuple[int, int]], colours: Sequence[str]
) -> list[Match]:
    """The likeliest place in an area, if it is likely at all."""
    tries: list[Match] = []
    shrunk: Shrunk = {}
    for size in sizes:
        for colour in colours:
            for mirrored in (False, True)[: 1 + is_lopsided(thing.name)]:
                tries += likely_places(image, area, thing, (*size, mirrored), colour, shrunk)
    hopeful = sorted((one for one in tries if one.gap < FAR), key=lambda found: found.score_from_afar)
    closer = sorted((refine(image, thing, one) for one in hopeful[:MOST]), key=lambda found: found.score_from_afar)
    near: list[Match] = []
    for one in closer[:BEST]:
        near.append(best_size(image, thing, one))
        if is_sure(near[-1]):
            break
    for one in sorted(near, key=lambda found: found.score)[:2]:
        found = best_nearby(image, thing, one, 1, MANY)
        if found.gap < MOST_GAP and found.rim > RIM:
            return [found]
    return []
