"""Scenes: named things on a ground, as data from which pictures, truths and masks are drawn.

Places and sizes are whole thousandths of the picture's side, so that a scene has no size of its
own. A thing is named by a `Reference`; `resolve` proves that it names one thing and no other.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, Self

from ...sources.synthetic import draw

RENDERER = 1  # raise it if a scene or its picture comes out differently
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "brown", "turquoise")
# What a kind looks like after a quarter turn or in a mirror decides which instructions can be seen.
TURNING = ("arrow", "fish", "flag", "heart", "house", "tree", "triangle")
MIRRORING = ("arrow", "fish", "flag")
KINDS = (*TURNING, "circle", "diamond", "square", "star")
GROUNDS = {
    "plain": ("plain:0", "plain:1", "plain:2", "plain:3"),
    "texture": ("cloth:0", "cloth:1", "gravel", "grass"),
    "photograph": ("coffee", "rocket", "chelsea"),
}
WORDS = ("LAMP", "RIVER", "STONE", "CLOUD", "BREAD", "TIGER",
         "PIANO", "GLASS", "OCEAN", "MAPLE", "NORTH", "HOTEL")  # fmt: skip
CELL = 200  # things stand in the middle of the cells of a grid of five by five
ROW = 900  # the line of the bottom row
_SIZES = (90, 100, 110, 120)
_SERIES_SIZES = (80, 110, 140)
_SIDES = {"left of": (-1, 0), "right of": (1, 0), "above": (0, -1), "below": (0, 1)}
_CORNERS = {f"{row} {column}": (x, y) for (row, y), (column, x) in product(
    (("top", 0), ("bottom", 1000)), (("left", 0), ("right", 1000)))}  # fmt: skip
_CLEAR = 100  # how much nearer to a corner than others a thing must be to be called the nearest


class Ambiguous(Exception):
    """A description names no thing of a scene, or several."""


@dataclass(frozen=True, order=True)
class Thing:
    y: int
    x: int
    kind: str
    size: int  # the width
    colour: str
    tone: str = "full"  # or light (halfway to white) or grey (of the same brightness)
    angle: int = 0  # degrees clockwise
    mirrored: bool = False
    crossed: bool = False
    text: str = ""  # on a card

    @property
    def looks(self) -> str:
        return {"full": self.colour, "light": f"light {self.colour}", "grey": "grey"}[self.tone]


@dataclass(frozen=True)
class Reference:
    """A description of one thing: its kind and colour or text, and its position if needed."""

    kind: str
    looks: str  # of a card, its text
    side: str = ""  # left of, right of, above or below another thing
    other: "Reference | None" = None
    corner: str = ""  # it is the nearest of its like to this corner

    def __str__(self) -> str:
        name = f"the {self.looks} {self.kind}"
        if self.kind == "card":
            what = "number" if self.looks.isdigit() else "word"
            name = f"the card with the {what} {self.looks}" if self.looks else "the empty card"
        if self.corner:
            return f"{name} nearest to the {self.corner} corner"
        return f"{name} {self.side} {self.other}" if self.other else name


@dataclass(frozen=True)
class Scene:
    seed: int
    index: int
    level: int  # 1: all kinds differ; 2: kinds recur in other colours; 3: two things look the same
    ground: str
    things: tuple[Thing, ...]  # sorted, so that equal scenes are equal

    @property
    def id(self) -> str:
        return f"scene-{self.seed}-{self.index}"

    def without(self, *things: Thing) -> Self:
        return replace(self, things=tuple(thing for thing in self.things if thing not in things))

    def with_things(self, *things: Thing) -> Self:
        return replace(self, things=tuple(sorted((*self.things, *things))))

    def changed(self, thing: Thing, **changes: Any) -> Self:
        return self.without(thing).with_things(replace(thing, **changes))

    def free_cells(self) -> list[tuple[int, int]]:
        """Centres of the empty cells of the middle rows."""
        cells = product((100, 300, 500, 700, 900), (300, 500, 700))
        reach = [(thing.x, thing.y) for thing in self.things]
        return [(x, y) for x, y in cells if all(max(abs(u - x), abs(v - y)) >= CELL for u, v in reach)]

    @property
    def singles(self) -> list[Thing]:
        return [thing for thing in self.things if thing.kind != "card" and thing.y != ROW]

    @property
    def series(self) -> list[Thing]:
        """The like things on the line at the bottom, from left to right."""
        return sorted((thing for thing in self.things if thing.y == ROW), key=lambda thing: thing.x)


def matching(scene: Scene, reference: Reference) -> list[Thing]:
    like = [
        thing
        for thing in scene.things
        if thing.kind == reference.kind
        and reference.looks == (thing.text if thing.kind == "card" else thing.looks)
    ]
    if reference.other:
        anchor = resolve(scene, reference.other)
        like = [thing for thing in like if _offset(thing, anchor, reference.side)[0] > 0]
    if reference.corner:
        like = _nearest(like, *_CORNERS[reference.corner])
    return like


def _offset(thing: Thing, anchor: Thing, side: str) -> tuple[int, int]:
    """How far a thing is on that side of another, and how far off the straight line."""
    right, down = _SIDES[side]
    along = (thing.x - anchor.x) * right + (thing.y - anchor.y) * down
    return along, abs((thing.x - anchor.x) * down + (thing.y - anchor.y) * right)


def _nearest(things: list[Thing], x: int, y: int) -> list[Thing]:
    """The nearest thing, with those that are about as near."""
    away = {thing: ((thing.x - x) ** 2 + (thing.y - y) ** 2) ** 0.5 for thing in things}
    return [thing for thing in things if away[thing] < min(away.values()) + _CLEAR]


def resolve(scene: Scene, reference: Reference) -> Thing:
    things = matching(scene, reference)
    if len(things) != 1:
        raise Ambiguous(f"{reference} names {len(things)} things of {scene.id}")
    return things[0]


def describe(scene: Scene, thing: Thing) -> Reference:
    """The shortest description that names this thing alone."""
    descriptions = (reference for reference in _descriptions(scene, thing) if _names(scene, reference, thing))
    return next(descriptions, _plain(thing))


def _plain(thing: Thing) -> Reference:
    return Reference(thing.kind, thing.text if thing.kind == "card" else thing.looks)


def _descriptions(scene: Scene, thing: Thing) -> Iterator[Reference]:
    yield (plain := _plain(thing))
    others = [_plain(other) for other in scene.things]
    for side, other in product(_SIDES, [other for other in others if len(matching(scene, other)) == 1]):
        yield replace(plain, side=side, other=other)
    yield from (replace(plain, corner=corner) for corner in _CORNERS)


def _names(scene: Scene, reference: Reference, thing: Thing) -> bool:
    """Whether it fits this thing clearly, and no other even loosely."""
    if matching(scene, reference) != [thing]:
        return False
    if reference.other is None:
        return True
    along, across = _offset(thing, resolve(scene, reference.other), reference.side)
    return across * 2 <= along


# --- scenes by chance


Dice = Iterator[int]  # whole numbers by chance


def throw(*seed: int) -> Dice:
    """The same numbers on any machine."""
    return iter(draw(seed, 4000, 0, 1 << 30).tolist())


def pick(dice: Dice, options: Iterable[Any]) -> Any:
    choices = list(options)
    if not choices:
        raise Ambiguous("nothing here can be changed so")
    return choices[next(dice) % len(choices)]


def shuffled(dice: Dice, options: Iterable[Any]) -> list[Any]:
    rest = list(options)
    return [rest.pop(pick(dice, range(len(rest)))) for _ in range(len(rest))]


@lru_cache(4096)
def make_scene(seed: int, index: int) -> Scene:
    """Scene `index` of a seed: levels 1 to 3 in turn, on every kind of ground in turn."""
    from .operations import all_edits  # which are drawn for a scene, and must all be clear

    level, kind = index % 3 + 1, tuple(GROUNDS)[index // 3 % 3]
    for attempt in range(200):
        dice = throw(seed, index, attempt)
        scene = _drawn(dice, Scene(seed, index, level, pick(dice, GROUNDS[kind]), ()))
        try:
            all_edits(scene)
        except Ambiguous:
            continue
        return scene
    raise Ambiguous(f"scene {index} of seed {seed} has no clear form")


def find_scene(id: str) -> Scene:
    _, seed, index = id.split("-")
    return make_scene(int(seed), int(index))


def _drawn(dice: Dice, scene: Scene) -> Scene:
    left, right = shuffled(dice, [pick(dice, WORDS), ""])
    number = str(pick(dice, range(10, 100)))
    middle = [
        (x, 100, text, width) for x, text, width in ((210, left, 340), (590, right, 340), (890, number, 160))
    ]
    things = [Thing(y, x, "card", width, "white", text=text) for x, y, text, width in middle]
    looks = _singles(dice, scene.level)
    cells = shuffled(dice, product((100, 300, 500, 700, 900), (300, 500, 700)))
    for (kind, colour), (x, y) in zip(looks, cells, strict=False):
        things.append(Thing(y, x, kind, pick(dice, _SIZES), colour))
    return scene.with_things(*things, *_drawn_series(dice, [kind for kind, _ in looks]))


def _singles(dice: Dice, level: int) -> list[tuple[str, str]]:
    """Kind and colour of the things that stand alone: three, five or seven; one turns and one has a mirror image."""
    kinds = [pick(dice, MIRRORING), *shuffled(dice, KINDS)]
    kinds = list(dict.fromkeys(kinds))[: 2 + level]
    looks = list(zip(kinds, shuffled(dice, COLOURS), strict=False))
    if level == 2:
        looks.append((looks[1][0], pick(dice, [colour for colour in COLOURS if colour != looks[1][1]])))
    return looks + looks[1:3] * (level == 3)


def _drawn_series(dice: Dice, taken: list[str]) -> list[Thing]:
    kind = pick(dice, [kind for kind in KINDS if kind not in taken])
    colours, sizes = shuffled(dice, COLOURS)[:3], shuffled(dice, _SERIES_SIZES)
    while sizes == sorted(sizes):  # there would be nothing to sort
        sizes = shuffled(dice, _SERIES_SIZES)
    columns = zip((100, 300, 500), colours, sizes, strict=True)
    return [Thing(ROW, x, kind, size, colour) for x, colour, size in columns]
