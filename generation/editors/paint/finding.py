"""Finds an added thing in the picture alone, by comparing the picture with drawings of the thing, size by size."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np

from . import placing
from .drawing import COMMON, Pixels, Thing, draw_at_size, draw_large, is_lopsided
from .placing import Place

_RING = 2  # pixels around a thing that are compared too
_SHAPE = 20  # pixels along the longer side of a solid thing in the coarse search
_SEEN, _RIM_SEEN = 0.4, 0.15  # the share of a thing, and of its surroundings, that must be inside the picture
_HOPE = 60.0  # grey levels above which no other size is tried
_CLIMB = 3  # at most this many sizes up or down from the size that was tried
_FEW, _MANY = 200, 2000  # pixels of a thing that are compared, at first and at the end
_MOST_GAP = 30.0  # grey levels between a thing and the picture, above which the thing is absent
_RIM = 12.0  # grey levels between a thing and its surroundings, below which it is absent
_FAR = 75.0  # as _MOST_GAP, for the coarse search, in which thin parts mix with the background
_SURE = 14.0  # grey levels below which no other place needs to be searched
_CLOSER, _CLOSEST = 10, 3  # places kept for the second and the third, finer search

_Area = tuple[int, int, int, int]  # left, top, right, bottom; may reach beyond the picture
_Sample = tuple[Pixels, Pixels, Pixels]  # rows, columns and colours of some pixels of a thing


@dataclass(frozen=True)
class _Match:
    """How much the picture differs from a thing there (gap) and around it (rim)."""

    place: Place
    colour: str
    gap: float
    rim: float


def _score(match: _Match) -> float:
    return match.gap - 0.25 * min(match.rim, 45.0) - 25 * math.log(match.place[2])


def _score_from_afar(match: _Match) -> float:
    return match.gap - 0.25 * min(match.rim, 150.0)


def _is_sure(match: _Match) -> bool:
    return match.gap < _SURE and match.rim > 3 * _RIM


def find_thing(image: Pixels, thing: Thing, colour: str = "") -> _Match | None:
    """Searched first where the thing would be added now, then everywhere; without a colour, in any."""
    matches: list[_Match] = []
    for area, sizes in _search_areas(image, thing):
        match = _search(image, area, thing, sizes, (colour,) if colour else thing.colours)
        if match and _is_sure(match):
            return match
        matches += [match] if match else []
    if matches or colour:
        return min(matches, key=_score_from_afar, default=None)
    area, sizes = next(_search_areas(image, thing))
    others = [name for name in COMMON if name not in thing.colours]
    return _search(image, area, thing, sizes[::2] if thing.place == "worn" else sizes, others)


def _search_areas(image: Pixels, thing: Thing) -> Iterator[tuple[_Area, list[tuple[int, int]]]]:
    height, width = image.shape[:2]
    short, is_worn = min(width, height), thing.place == "worn"
    margin = short // (6 if is_worn else 16)
    everywhere = (-margin, -margin, width + margin, height + margin)
    if not is_worn:
        yield everywhere, [placing.size_of(thing, short, step) for step in (-1, 0, 1)]
        return
    face, assumed = placing.find_face(image), placing.assumed_face(image)
    likely = [(face, range(-4, 5)), (assumed, range(-1, 2))] if face else [(assumed, range(-4, 5))]
    for place, steps in likely:
        left, top, wide, tall, _ = placing.on_face(place, thing)
        far = round(0.3 * place[2])
        yield (left - far, top - far, left + wide + far, top + tall + far), _sizes(thing, place[2], steps)
    yield everywhere, _sizes(thing, assumed[2], range(-20, 9, 2))


def _sizes(thing: Thing, size: float, steps: Iterable[int]) -> list[tuple[int, int]]:
    return [placing.on_face((0, 0, size * placing.LADDER**step), thing)[2:4] for step in steps]


def _search(
    image: Pixels, area: _Area, thing: Thing, sizes: Iterable[tuple[int, int]], colours: Sequence[str]
) -> _Match | None:
    tries: list[_Match] = []
    for width, height in sizes:
        shrunk = _shrink(image, area, _coarseness(thing, max(width, height)))
        for colour in colours:
            for mirrored in (False, True)[: 1 + is_lopsided(thing.name)]:
                tries += _likely_places(shrunk, area, thing, (width, height, mirrored), colour)
    hopeful = sorted((match for match in tries if match.gap < _FAR), key=_score_from_afar)
    refined = (_best_nearby(image, thing, match, _uncertainty(thing, match), _FEW) for match in hopeful[:_CLOSER])
    near: list[_Match] = []
    for match in sorted(refined, key=_score_from_afar)[:_CLOSEST]:
        near.append(_best_size(image, thing, match))
        if _is_sure(near[-1]):
            break
    for match in sorted(near, key=_score)[:2]:
        best = _best_nearby(image, thing, match, 1, _MANY)
        if best.gap < _MOST_GAP and best.rim > _RIM:
            return best
    return None


@lru_cache(maxsize=128)
def _shape(name: str, colour: str, width: int, height: int, mirrored: bool) -> tuple[Pixels, Pixels, Pixels]:
    drawn = draw_at_size(name, colour, width, height, mirrored)
    tint, cover = (cv2.copyMakeBorder(part, *(_RING,) * 4, cv2.BORDER_CONSTANT, value=0) for part in drawn)
    firm = 0.4 if max(width, height) < 60 else 0.75
    solid = (cover > firm).astype(np.float32)
    wide = (2 * _RING + 1, 2 * _RING + 1)
    ring = ((cv2.dilate(solid, np.ones(wide, np.uint8)) > 0) & (cover < 0.25)).astype(np.float32)
    spread = (
        cv2.blur(tint * solid[..., None], wide) / np.clip(cv2.blur(cover * solid, wide), 1e-3, None)[..., None]
    )
    colours = tint / np.clip(cover, 0.05, None)[..., None]
    return np.where(solid[..., None] > 0, colours, spread).astype(np.float32), solid, ring


def _coarseness(thing: Thing, longer: int) -> float:
    _, cover = draw_large(thing.name, thing.colours[0])
    return min(1.0, _SHAPE / max(0.3, float((cover > 0.6).mean())) ** 0.7 / longer)


def _uncertainty(thing: Thing, match: _Match) -> int:
    return max(1, round(0.75 / _coarseness(thing, max(match.place[2:4]))))


def _shrink(image: Pixels, area: _Area, scale: float) -> tuple[Pixels, Pixels]:
    left, top, right, bottom = area
    height, width = image.shape[:2]
    part = image[max(0, top) : max(0, bottom), max(0, left) : max(0, right)]
    pads = max(0, -top), max(0, bottom - height), max(0, -left), max(0, right - width)
    size = max(1, round((right - left) * scale)), max(1, round((bottom - top) * scale))
    layers = part, np.ones(part.shape[:2], np.uint8)
    padded = [cv2.copyMakeBorder(layer, *pads, cv2.BORDER_CONSTANT, value=0) for layer in layers]
    small, inside = (cv2.resize(layer.astype(np.float32), size, interpolation=cv2.INTER_AREA) for layer in padded)
    inside = (inside > 0.99).astype(np.float32)
    return small * inside[..., None], inside


def _likely_places(
    shrunk: tuple[Pixels, Pixels], area: _Area, thing: Thing, size: tuple[int, int, bool], colour: str
) -> Iterator[_Match]:
    width, height, mirrored = size
    scale = _coarseness(thing, max(width, height))
    small = max(3, round(width * scale)), max(3, round(height * scale))
    tint, solid, ring = _shape(thing.name, colour, *small, mirrored)
    if any(have < need for have, need in zip(shrunk[1].shape, solid.shape, strict=True)):
        return
    gap = _difference_map(*shrunk, tint, solid, 255.0)
    rim = _difference_map(*shrunk, tint, ring, 0.0)
    score = gap - 0.25 * np.minimum(rim, 150)
    for _ in range(2):
        row, column = (int(v) for v in np.unravel_index(int(score.argmin()), score.shape))
        corner = area[0] + round((column + _RING) / scale), area[1] + round((row + _RING) / scale)
        yield _Match((*corner, width, height, mirrored), colour, float(gap[row, column]), float(rim[row, column]))
        score[max(0, row - 3) : row + 4, max(0, column - 3) : column + 4] = np.inf


def _difference_map(image: Pixels, inside: Pixels, colour: Pixels, mask: Pixels, unseen: float) -> Pixels:
    # The square of a difference, multiplied out, is two plain
    # correlations: a third faster than OpenCV's masked one.
    weighted = colour * mask[..., None]
    squares: Pixels = cv2.matchTemplate(np.square(image).sum(2), mask, cv2.TM_CCORR)
    squares += np.square(weighted).sum() - 2 * cv2.matchTemplate(image, weighted, cv2.TM_CCORR)
    count = mask.sum()
    if inside.min() < 1:
        squares -= cv2.matchTemplate(1 - inside, np.square(colour).sum(2) * mask, cv2.TM_CCORR)
        count = cv2.matchTemplate(inside, mask, cv2.TM_CCORR)
    level = np.sqrt(np.maximum(squares, 0) / np.maximum(1.0, 3 * count))
    least = _SEEN if unseen else _RIM_SEEN
    return np.where(count < least * mask.sum(), np.float32(unseen), level)


def _best_size(image: Pixels, thing: Thing, best: _Match) -> _Match:
    for _ in range(_CLIMB if best.gap < _HOPE else 0):
        left, top, width, height, mirrored = best.place
        near = [best]
        for step in (-1, 1):
            wide, tall = placing.neighbour(thing, min(image.shape[:2]), width, step)
            corner = left + (width - wide) // 2, top + (height - tall) // 2
            option = replace(best, place=(*corner, wide, tall, mirrored))
            near.append(
                _best_nearby(image, thing, option, _uncertainty(thing, best) + abs(tall - height) // 2, _FEW)
            )
        likeliest = min(near, key=_score)
        if likeliest is best:
            break
        best = likeliest
    return best


def _best_nearby(image: Pixels, thing: Thing, match: _Match, far: int, samples: int) -> _Match:
    left, top, width, height, mirrored = match.place
    colour, solid, ring = _shape(thing.name, match.colour, width, height, mirrored)
    inside, outside = (_sample(colour, mask, samples) for mask in (solid, ring))
    stride = max(1, far // 3)
    best = replace(match, gap=np.inf)
    shifts = list(range(-far, far + 1, stride))
    while True:
        for dy in shifts:
            for dx in shifts:
                x, y = left + dx, top + dy
                gap = _difference(image, x - _RING, y - _RING, inside, 255.0)
                if gap > best.gap + 12:  # no rim could make up for this
                    continue
                rim = _difference(image, x - _RING, y - _RING, outside, 0.0)
                tried = _Match((x, y, width, height, mirrored), match.colour, gap, rim)
                best = tried if _score(tried) < _score(best) else best
        if stride == 1:
            return best
        stride = max(1, stride // 2)
        left, top = best.place[:2]
        shifts = [-stride, 0, stride]


def _sample(colour: Pixels, mask: Pixels, count: int) -> _Sample:
    rows, columns = np.nonzero(mask)
    step = max(1, len(rows) // count)
    return rows[::step], columns[::step], colour[rows[::step], columns[::step]]


def _difference(image: Pixels, left: int, top: int, sample: _Sample, unseen: float) -> float:
    rows, columns, colours = sample
    y, x = rows + top, columns + left
    seen = (y >= 0) & (y < image.shape[0]) & (x >= 0) & (x < image.shape[1])
    if not seen.all():
        if seen.sum() < max(1, (_SEEN if unseen else _RIM_SEEN) * len(rows)):
            return unseen
        y, x, colours = y[seen], x[seen], colours[seen]
    return float(np.square(image[y, x] - colours).mean()) ** 0.5
