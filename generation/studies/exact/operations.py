"""Twenty operations on scenes, each with its inverse. A command is both the words and what they do to a scene."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import combinations, permutations, product

from .scenes import (
    CELL,
    COLOURS,
    KINDS,
    MIRRORING,
    TURNING,
    WORDS,
    Ambiguous,
    Dice,
    Reference,
    Scene,
    Thing,
    describe,
    find_scene,
    pick,
    resolve,
    throw,
)  # fmt: skip

Value = int | str | tuple[str, ...]


@dataclass(frozen=True)
class Command:
    """An instruction: what it does to a scene follows from these fields alone, and so do its words."""

    verb: str
    targets: tuple[Reference, ...] = ()
    values: tuple[Value, ...] = ()

    def run(self, scene: Scene) -> Scene:
        """The scene afterwards; raises Ambiguous if a target is not one thing."""
        things = [resolve(scene, target) for target in self.targets]
        return _VERBS[self.verb][0](scene, *things, *self.values)

    def __str__(self) -> str:
        return _VERBS[self.verb][1](*self.targets, *self.values)


@dataclass(frozen=True)
class Edit:
    """An operation on a scene: what is asked, what takes it back, and the scene between."""

    name: str
    group: str
    before: Scene
    forward: Command
    backward: Command

    @property
    def id(self) -> str:
        return f"{self.before.id}-{self.name}"

    @property
    def after(self) -> Scene:
        return self.forward.run(self.before)

    @property
    def changed(self) -> tuple[list[Thing], list[Thing]]:
        """The things that are no longer as they were, and as what they are."""
        before, after = self.before.things, self.after.things
        gone = [thing for thing in before if thing not in after]
        return gone, [thing for thing in after if thing not in before]


# --- what each verb does to the data, and its words


def _exchange(names: Sequence[str], scene: Scene, *pair: Thing) -> Scene:
    others = ({name: getattr(other, name) for name in names} for other in reversed(pair))
    return scene.without(*pair).with_things(*map(lambda thing, other: replace(thing, **other), pair, others))


def _arrange(scene: Scene, kind: str, colours: tuple[str, ...]) -> Scene:
    return _in_order(scene, sorted(scene.series, key=lambda thing: colours.index(thing.colour)))


def _in_order(scene: Scene, things: list[Thing]) -> Scene:
    moved = [replace(thing, x=place.x) for thing, place in zip(things, scene.series, strict=True)]
    return scene.without(*scene.series).with_things(*moved)


def _percent(thousandths: int) -> str:
    return f"{abs(thousandths) / 10:g}%"


def _move_words(target: Reference, right: int, down: int) -> str:
    way = ("to the right" if right > 0 else "to the left") if right else "down" if down > 0 else "up"
    return f"Move {target} {way} by {_percent(right or down)} of the picture's width."


def _scale_words(target: Reference, times: int, parts: int) -> str:
    verb, factor = ("Enlarge", "one and a half times") if times > parts else ("Shrink", "two thirds of")
    return f"{verb} {target} to {factor} its size, keeping its centre in place."


def _place_words(x: int, y: int) -> str:
    return f"with its centre {_percent(x)} of the width from the left edge and {_percent(y)} from the top edge"


def _add_words(kind: str, colour: str, size: int, x: int, y: int) -> str:
    thing = f"{'an' if colour[0] in 'aeiou' else 'a'} {colour} {kind}"
    return f"Add {thing}, upright and {_percent(size)} of the picture wide, {_place_words(x, y)}."


def _row_words(kind: str) -> str:
    return f"the three {kind}{'es' if kind.endswith('sh') else 's'} in the bottom row"


_VERBS: dict[str, tuple[Callable[..., Scene], Callable[..., str]]] = {
    "move": (lambda s, t, right, down: s.changed(t, x=t.x + right, y=t.y + down), _move_words),
    "rotate": (
        lambda s, t, degrees: s.changed(t, angle=(t.angle + degrees) % 360),
        lambda t, degrees: (
            f"Rotate {t} by {abs(degrees)} degrees {'anti' * (degrees < 0)}clockwise about its centre."
        ),
    ),
    "mirror": (
        lambda s, t: s.changed(t, mirrored=not t.mirrored, angle=-t.angle % 360),
        "Mirror {} left to right, where it stands.".format,
    ),
    "scale": (lambda s, t, times, parts: s.changed(t, size=t.size * times // parts), _scale_words),
    "add": (lambda s, kind, colour, size, x, y: s.with_things(Thing(y, x, kind, size, colour)), _add_words),
    "remove": (lambda s, t: s.without(t), "Remove {}.".format),
    "swap": (partial(_exchange, "xy"), "Let {} and {} change places.".format),
    "arrange": (
        _arrange,
        lambda kind, colours: (
            f"Arrange {_row_words(kind)} in this order from left to right: {', '.join(colours)}."
        ),
    ),
    "sort": (
        lambda s, kind: _in_order(s, sorted(s.series, key=lambda thing: thing.size)),
        lambda kind: f"Sort {_row_words(kind)} by size, with the smallest at the left.",
    ),
    "recolour": (
        lambda s, t, colour: s.changed(t, colour=colour, tone="full"),
        "Change the colour of {} to {}.".format,
    ),
    "swap colours": (
        partial(_exchange, ("colour",)),
        "Let {} and {} swap their colours, keeping their shapes and places.".format,
    ),
    "lighten": (
        lambda s, t: s.changed(t, tone="light"),
        "Make {} lighter, halfway from its colour to white.".format,
    ),
    "grey": (lambda s, t: s.changed(t, tone="grey"), "Turn {} grey, exactly as bright as it is.".format),
    "write": (
        lambda s, t, text: s.changed(t, text=text),
        lambda t, text: f"Write the {'number' if text.isdigit() else 'word'} {text} on {t}.",
    ),
    "rewrite": (lambda s, t, text: s.changed(t, text=text), "Change what is written on {} to {}.".format),
    "erase": (
        lambda s, t: s.changed(t, text=""),
        "Erase what is written on {}, and leave the card empty.".format,
    ),
    "extend": (
        lambda s, kind: s.with_things(replace(s.series[-1], x=s.series[-1].x + CELL)),
        lambda kind: (
            f"Add a fourth {kind} at the right end of the bottom row, "
            "exactly like the last one and at the same distance."
        ),
    ),
    "copy": (
        lambda s, t, x, y: s.with_things(replace(t, x=x, y=y)),
        lambda t, x, y: f"Add a copy of {t}, {_place_words(x, y)}.",
    ),
    "cross out": (
        lambda s, t: s.changed(t, crossed=True),
        "Cross out {} with a black X over its whole width and height.".format,
    ),
    "uncross": (lambda s, t: s.changed(t, crossed=False), "Remove the black X from {}.".format),
}


# --- the twenty operations: which things are chosen, what is asked, and what takes it back

# A verb, the things that it names, its values; the verb that takes it back, and that one's values.
_Plan = tuple[str, tuple[Thing, ...], tuple[Value, ...], str, tuple[Value, ...]]


def _single(scene: Scene, dice: Dice, kinds: Collection[str] = KINDS) -> Thing:
    return pick(dice, [thing for thing in scene.singles if thing.kind in kinds])


def _pair(scene: Scene, dice: Dice) -> tuple[Thing, ...]:
    return pick(dice, [pair for pair in combinations(scene.singles, 2) if pair[0].colour != pair[1].colour])


def _card(scene: Scene, dice: Dice, is_such: Callable[[str], bool]) -> Thing:
    return pick(dice, [thing for thing in scene.things if thing.kind == "card" and is_such(thing.text)])


def _plan_move(scene: Scene, dice: Dice) -> _Plan:
    ways = product(scene.singles, scene.free_cells())
    straight = [(thing, x - thing.x, y - thing.y) for thing, (x, y) in ways if (x == thing.x) != (y == thing.y)]
    thing, right, down = pick(dice, straight)
    return "move", (thing,), (right, down), "move", (-right, -down)


def _plan_add(scene: Scene, dice: Dice) -> _Plan:
    model, (x, y) = _single(scene, dice), pick(dice, scene.free_cells())
    colour = pick(dice, [colour for colour in COLOURS if colour != model.colour])
    return "add", (), (model.kind, colour, model.size, x, y), "remove", ()


def _plan_remove(scene: Scene, dice: Dice) -> _Plan:
    thing = _single(scene, dice)
    return "remove", (thing,), (), "add", (thing.kind, thing.colour, thing.size, thing.x, thing.y)


def _plan_row(verb: str, scene: Scene, dice: Dice) -> _Plan:
    kind, colours = scene.series[0].kind, tuple(thing.colour for thing in scene.series)
    orders = [order for order in permutations(colours) if order != colours]
    return verb, (), (kind, pick(dice, orders)) if verb == "arrange" else (kind,), "arrange", (kind, colours)


def _plan_colour(verb: str, scene: Scene, dice: Dice) -> _Plan:
    thing = _single(scene, dice)
    others = [colour for colour in COLOURS if colour != thing.colour]
    return verb, (thing,), (pick(dice, others),) * (verb == "recolour"), "recolour", (thing.colour,)


def _plan_write(scene: Scene, dice: Dice) -> _Plan:
    taken = [thing.text for thing in scene.things]
    word = pick(dice, [word for word in WORDS if word not in taken])
    return "write", (_card(scene, dice, lambda text: not text),), (word,), "erase", ()


def _plan_erase(scene: Scene, dice: Dice) -> _Plan:
    card = _card(scene, dice, str.isalpha)
    return "erase", (card,), (), "write", (card.text,)


def _plan_rewrite(is_such: Callable[[str], bool], texts: Sequence[str], scene: Scene, dice: Dice) -> _Plan:
    card = _card(scene, dice, is_such)
    # No letter stays where it was, or half of the change could look like all of it.
    others = [text for text in texts if not any(map(str.__eq__, text, card.text))]
    return "rewrite", (card,), (pick(dice, others),), "rewrite", (card.text,)


OPERATIONS: dict[str, tuple[str, Callable[[Scene, Dice], _Plan]]] = {
    "move": ("place", _plan_move),
    "rotate": ("place", lambda s, d: ("rotate", (_single(s, d, TURNING),), (90,), "rotate", (-90,))),
    "mirror": ("place", lambda s, d: ("mirror", (_single(s, d, MIRRORING),), (), "mirror", ())),
    "scale": ("place", lambda s, d: ("scale", (_single(s, d),), (3, 2), "scale", (2, 3))),
    "add": ("things", _plan_add),
    "remove": ("things", _plan_remove),
    "swap": ("things", lambda s, d: ("swap", _pair(s, d), (), "swap", ())),
    "reorder": ("things", partial(_plan_row, "arrange")),
    "recolour": ("colour", partial(_plan_colour, "recolour")),
    "swap-colours": ("colour", lambda s, d: ("swap colours", _pair(s, d), (), "swap colours", ())),
    "lighten": ("colour", partial(_plan_colour, "lighten")),
    "grey": ("colour", partial(_plan_colour, "grey")),
    "write": ("text", _plan_write),
    "erase": ("text", _plan_erase),
    "change-word": ("text", partial(_plan_rewrite, str.isalpha, WORDS)),
    "change-number": ("text", partial(_plan_rewrite, str.isdigit, [str(number) for number in range(10, 100)])),
    "count-up": ("counting", lambda s, d: ("extend", (), (s.series[0].kind,), "remove", ())),
    "copy": ("counting", lambda s, d: ("copy", (_single(s, d),), pick(d, s.free_cells()), "remove", ())),
    "cross-out": ("counting", lambda s, d: ("cross out", (_single(s, d),), (), "uncross", ())),
    "sort": ("counting", partial(_plan_row, "sort")),
}
GROUPS = tuple(dict.fromkeys(group for group, _ in OPERATIONS.values()))
_UNTARGETED = ("add", "arrange")


@lru_cache(16384)
def make_edit(scene: Scene, name: str) -> Edit:
    """An operation on a scene; Ambiguous unless each command names its things and the second restores the data."""
    group, plan = OPERATIONS[name]
    verb, things, values, back_verb, back_values = plan(
        scene, throw(scene.seed, scene.index, 1000 + [*OPERATIONS].index(name))
    )
    forward = Command(verb, tuple(describe(scene, thing) for thing in things), values)
    after = forward.run(scene)
    changed = [] if back_verb in _UNTARGETED else [thing for thing in after.things if thing not in scene.things]
    backward = Command(back_verb, tuple(describe(after, thing) for thing in changed), back_values)
    if backward.run(after) != scene or after == scene:
        raise Ambiguous(f"{name} on {scene.id} is not undone by {backward}")
    return Edit(name, group, scene, forward, backward)


def all_edits(scene: Scene) -> dict[str, Edit]:
    return {name: make_edit(scene, name) for name in OPERATIONS}


def find_edit(program: str) -> Edit | None:
    """The edit that a program of the exact suites asks for, by the program's id; None for other programs."""
    named = re.fullmatch(r"(scene-\d+-\d+)-([a-z-]+)", program)
    return make_edit(find_scene(named[1]), named[2]) if named and named[2] in OPERATIONS else None
