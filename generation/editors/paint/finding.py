"""Finding what was added, from the picture alone: by comparing it with what would be drawn, size by size."""

from collections.abc import Iterable, Iterator, Sequence

from . import faces, placing
from .drawing import Pixels
from .matching import MANY, Area, Found, Views, approach, climb, settle, spots
from .things import COMMON, Thing, lopsided

LIKENESS = 30.0  # grey levels between a thing and what is there, above which it is not there
RIM = 12.0  # grey levels between a thing's edge and what is around it, below which nothing stands there
FAR = 75.0  # the same from afar, where thin parts are mixed with what is behind them
SURE = 14.0  # grey levels below which no other place needs to be looked at
MOST, BEST = 10, 3  # places that are looked at more closely, and closest


def find(image: Pixels, thing: Thing, colours: Sequence[str]) -> Found | None:
    """Where the thing is, or None; first where it would be put now, then anywhere."""
    likely: list[Found] = []
    for area, sizes in searches(image, thing):
        likely += search(image, area, thing, sizes, colours)
        if likely and sure(likely[-1]):
            return likely[-1]
    return min(likely, key=lambda found: found.promise, default=None)


def sure(found: Found) -> bool:
    """Whether a place is so likely that no other needs to be looked at."""
    return found.gap < SURE and found.rim > 3 * RIM


def find_in_any_colour(image: Pixels, thing: Thing) -> Found | None:
    """Where the thing is in a colour that it has on request only."""
    colours = [colour for colour in COMMON if colour not in thing.colours]
    area, sizes = next(searches(image, thing))
    return next(iter(search(image, area, thing, sizes[::2] if thing.place == "worn" else sizes, colours)), None)


def searches(image: Pixels, thing: Thing) -> Iterator[tuple[Area, list[tuple[int, int]]]]:
    """Where to look, and for which sizes."""
    height, width = image.shape[:2]
    short = min(width, height)

    def whole(over: int) -> Area:
        return (-over, -over, width + over, height + over)

    if thing.place != "worn":
        yield whole(short // 16), [placing.size_of(thing, short, step) for step in (-1, 0, 1)]
        return
    face = faces.find(image)
    yield around(face, thing), worn_sizes(thing, face.size, range(-4, 5))
    if face.found:
        yield around(faces.unseen(image), thing), worn_sizes(thing, faces.usual(image), range(-1, 2))
    yield whole(short // 6), worn_sizes(thing, faces.usual(image), range(-20, 9, 2))


def around(face: faces.Face, thing: Thing) -> Area:
    left, top, wide, tall, _ = placing.on_face(face, thing)
    far = round(0.3 * face.size)
    return left - far, top - far, left + wide + far, top + tall + far


def worn_sizes(thing: Thing, size: float, steps: Iterable[int]) -> list[tuple[int, int]]:
    return [placing.on_face(faces.Face(0, 0, size * faces.LADDER**step), thing)[2:4] for step in steps]


def search(
    image: Pixels, area: Area, thing: Thing, sizes: Iterable[tuple[int, int]], colours: Sequence[str]
) -> list[Found]:
    """The likeliest place in an area, if it is likely at all."""
    tries: list[Found] = []
    views: Views = {}
    for size in sizes:
        for colour in colours:
            for mirrored in (False, True)[: 1 + lopsided(thing.name)]:
                tries += spots(image, area, thing, (*size, mirrored), colour, views)
    hopeful = sorted((one for one in tries if one.gap < FAR), key=lambda found: found.promise)
    closer = sorted((approach(image, thing, one) for one in hopeful[:MOST]), key=lambda found: found.promise)
    near: list[Found] = []
    for one in closer[:BEST]:
        near.append(climb(image, thing, one))
        if sure(near[-1]):
            break
    for one in sorted(near, key=lambda found: found.score)[:2]:
        found = settle(image, thing, one, 1, MANY)
        if found.gap < LIKENESS and found.rim > RIM:
            return [found]
    return []
