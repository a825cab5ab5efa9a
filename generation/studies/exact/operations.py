"""Twenty operations on scenes, each with its inverse. A command is both the words and what they do to a scene."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, permutations, product
from typing import Any

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
    resolve,
)  # fmt: skip

Value = int | str | tuple[str, ...]
_COUNTS = ("no", "one", "two", "three", "four", "five")
_ORDINALS = {3: "fourth"}


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
        words = _VERBS[self.verb][1]
        return words(*self.targets, *self.values) if callable(words) else words.format(*self.targets, *self.values)


@dataclass(frozen=True)
class Edit:
    """An operation on a scene: what is asked, what takes it back, and the scene between."""

    name: str
    group: str
    before: Scene
    forward: Command
    backward: Command

    @property
    def after(self) -> Scene:
        return self.forward.run(self.before)


# --- what each verb does to the data


def _move(scene: Scene, thing: Thing, right: int, down: int) -> Scene:
    return scene.changed(thing, x=thing.x + right, y=thing.y + down)


def _rotate(scene: Scene, thing: Thing, degrees: int) -> Scene:
    return scene.changed(thing, angle=(thing.angle + degrees) % 360)


def _mirror(scene: Scene, thing: Thing) -> Scene:
    return scene.changed(thing, mirrored=not thing.mirrored, angle=-thing.angle % 360)


def _scale(scene: Scene, thing: Thing, times: int, parts: int) -> Scene:
    return scene.changed(thing, size=thing.size * times // parts)


def _add(scene: Scene, kind: str, colour: str, size: int, x: int, y: int) -> Scene:
    return scene.with_things(Thing(y, x, kind, size, colour))


def _remove(scene: Scene, thing: Thing) -> Scene:
    return scene.without(thing)


def _swap(scene: Scene, first: Thing, second: Thing) -> Scene:
    moved = replace(first, x=second.x, y=second.y), replace(second, x=first.x, y=first.y)
    return scene.without(first, second).with_things(*moved)


def _swap_colours(scene: Scene, first: Thing, second: Thing) -> Scene:
    recoloured = replace(first, colour=second.colour), replace(second, colour=first.colour)
    return scene.without(first, second).with_things(*recoloured)


def _arrange(scene: Scene, kind: str, colours: tuple[str, ...]) -> Scene:
    by_colour = {thing.colour: thing for thing in scene.series}
    if [thing.kind for thing in scene.series] != [kind] * len(by_colour) or set(by_colour) != set(colours):
        raise Ambiguous(f"the bottom row of {scene.id} is not of {', '.join(colours)}")
    return _in_order(scene, [by_colour[colour] for colour in colours])


def _sort(scene: Scene, kind: str, count: int) -> Scene:
    return _in_order(scene, sorted(scene.series, key=lambda thing: thing.size))


def _in_order(scene: Scene, things: list[Thing]) -> Scene:
    moved = [replace(thing, x=place.x) for thing, place in zip(things, scene.series, strict=True)]
    return scene.without(*scene.series).with_things(*moved)


def _recolour(scene: Scene, thing: Thing, colour: str) -> Scene:
    return scene.changed(thing, colour=colour, tone="full")


def _set_tone(tone: str) -> Callable[[Scene, Thing], Scene]:
    return lambda scene, thing: scene.changed(thing, tone=tone)


def _write(scene: Scene, thing: Thing, text: str) -> Scene:
    return scene.changed(thing, text=text)


def _erase(scene: Scene, thing: Thing) -> Scene:
    return scene.changed(thing, text="")


def _extend(scene: Scene, kind: str, count: int) -> Scene:
    last = scene.series[-1]
    return scene.with_things(replace(last, x=last.x + CELL))


def _copy(scene: Scene, thing: Thing, x: int, y: int) -> Scene:
    return scene.with_things(replace(thing, x=x, y=y))


def _cross(is_crossed: bool) -> Callable[[Scene, Thing], Scene]:
    return lambda scene, thing: scene.changed(thing, crossed=is_crossed)


# --- in words


def _percent(thousandths: int) -> str:
    return f"{abs(thousandths) / 10:g}%"


def _move_words(target: Reference, right: int, down: int) -> str:
    ways = ["to the right" if right > 0 else "to the left"] * bool(right) + ["down" if down > 0 else "up"] * bool(
        down
    )
    parts = [f"{way} by {_percent(part)}" for way, part in zip(ways, filter(None, (right, down)), strict=True)]
    return f"Move {target} {' and '.join(parts)} of the picture's width."


def _rotate_words(target: Reference, degrees: int) -> str:
    way = "clockwise" if degrees > 0 else "anticlockwise"
    return f"Rotate {target} by {abs(degrees)} degrees {way} about its centre."


def _scale_words(target: Reference, times: int, parts: int) -> str:
    factor = {(3, 2): "one and a half times", (2, 3): "two thirds of"}.get((times, parts), f"{times}/{parts} of")
    return (
        f"{'Enlarge' if times > parts else 'Shrink'} {target} to {factor} its size, keeping its centre in place."
    )


def _place_words(x: int, y: int) -> str:
    return f"with its centre {_percent(x)} of the width from the left edge and {_percent(y)} from the top edge"


def _add_words(kind: str, colour: str, size: int, x: int, y: int) -> str:
    article = "an" if colour[0] in "aeiou" else "a"
    return (
        f"Add {article} {colour} {kind}, upright and {_percent(size)} of the picture wide, {_place_words(x, y)}."
    )


def _row_words(kind: str, count: int) -> str:
    return f"the {_COUNTS[count]} {kind}{'es' if kind.endswith('sh') else 's'} in the bottom row"


def _arrange_words(kind: str, colours: tuple[str, ...]) -> str:
    return f"Arrange {_row_words(kind, len(colours))} in this order from left to right: {', '.join(colours)}."


def _write_words(target: Reference, text: str) -> str:
    return f"Write the {'number' if text.isdigit() else 'word'} {text} on {target}."


def _rewrite_words(target: Reference, text: str) -> str:
    return f"Change what is written on {target} to {text}."


_Words = str | Callable[..., str]
_VERBS: dict[str, tuple[Callable[..., Scene], _Words]] = {
    "move": (_move, _move_words),
    "rotate": (_rotate, _rotate_words),
    "mirror": (_mirror, "Mirror {0} left to right, where it stands."),
    "scale": (_scale, _scale_words),
    "add": (_add, _add_words),
    "remove": (_remove, "Remove {0}."),
    "swap": (_swap, "Let {0} and {1} change places."),
    "arrange": (_arrange, _arrange_words),
    "sort": (_sort, lambda *row: f"Sort {_row_words(*row)} by size, with the smallest at the left."),
    "recolour": (_recolour, "Change the colour of {0} to {1}."),
    "swap colours": (_swap_colours, "Let {0} and {1} swap their colours, keeping their shapes and places."),
    "lighten": (_set_tone("light"), "Make {0} lighter, halfway from its colour to white."),
    "grey": (_set_tone("grey"), "Turn {0} grey, exactly as bright as it is."),
    "write": (_write, _write_words),
    "rewrite": (_write, _rewrite_words),
    "erase": (_erase, "Erase what is written on {0}, and leave the card empty."),
    "extend": (_extend, lambda kind, count: f"Add a {_ORDINALS[count]} {kind} at the right end of the bottom row, "
        "exactly like the last one and at the same distance."),
    "copy": (_copy, lambda target, x, y: f"Add a copy of {target}, {_place_words(x, y)}."),
    "cross out": (_cross(True), "Cross out {0} with a black X over its whole width and height."),
    "uncross": (_cross(False), "Remove the black X from {0}."),
}  # fmt: skip


# --- the twenty operations: which things are chosen, what is asked, and what takes it back

# A verb, the things that it names, its values; the verb that takes it back, and that one's values.
_Plan = tuple[str, tuple[Thing, ...], tuple[Value, ...], str, tuple[Value, ...]]


def _pick(dice: Dice, options: Iterable[Any]) -> Any:
    choices = list(options)
    if not choices:
        raise Ambiguous("nothing here can be changed so")
    return dice.pick(choices)


def _single(scene: Scene, dice: Dice, kinds: Collection[str] = KINDS) -> Thing:
    return _pick(dice, [thing for thing in scene.singles if thing.kind in kinds])


def _pair(scene: Scene, dice: Dice) -> tuple[Thing, ...]:
    return _pick(dice, [pair for pair in combinations(scene.singles, 2) if pair[0].colour != pair[1].colour])


def _card(scene: Scene, dice: Dice, is_such: Callable[[str], bool]) -> Thing:
    return _pick(dice, [thing for thing in scene.things if thing.kind == "card" and is_such(thing.text)])


def _plan_move(scene: Scene, dice: Dice) -> _Plan:
    ways = product(scene.singles, scene.free_cells())
    straight = [(thing, x - thing.x, y - thing.y) for thing, (x, y) in ways if (x == thing.x) != (y == thing.y)]
    thing, right, down = _pick(dice, straight)
    return "move", (thing,), (right, down), "move", (-right, -down)


def _plan_add(scene: Scene, dice: Dice) -> _Plan:
    model, (x, y) = _single(scene, dice), _pick(dice, scene.free_cells())
    colour = dice.pick([colour for colour in COLOURS if colour != model.colour])
    return "add", (), (model.kind, colour, model.size, x, y), "remove", ()


def _plan_remove(scene: Scene, dice: Dice) -> _Plan:
    thing = _single(scene, dice)
    return "remove", (thing,), (), "add", (thing.kind, thing.colour, thing.size, thing.x, thing.y)


def _plan_reorder(scene: Scene, dice: Dice) -> _Plan:
    kind, colours = scene.series[0].kind, tuple(thing.colour for thing in scene.series)
    orders = [order for order in permutations(colours) if order != colours]
    return "arrange", (), (kind, dice.pick(orders)), "arrange", (kind, colours)


def _plan_sort(scene: Scene, dice: Dice) -> _Plan:
    kind, colours = scene.series[0].kind, tuple(thing.colour for thing in scene.series)
    return "sort", (), (kind, len(colours)), "arrange", (kind, colours)


def _plan_recolour(scene: Scene, dice: Dice) -> _Plan:
    thing = _single(scene, dice)
    colour = dice.pick([colour for colour in COLOURS if colour != thing.colour])
    return "recolour", (thing,), (colour,), "recolour", (thing.colour,)


def _plan_tone(verb: str) -> Callable[[Scene, Dice], _Plan]:
    def plan(scene: Scene, dice: Dice) -> _Plan:
        thing = _single(scene, dice)
        return verb, (thing,), (), "recolour", (thing.colour,)

    return plan


def _plan_write(scene: Scene, dice: Dice) -> _Plan:
    taken = [thing.text for thing in scene.things]
    word = dice.pick([word for word in WORDS if word not in taken])
    return "write", (_card(scene, dice, lambda text: not text),), (word,), "erase", ()


def _plan_erase(scene: Scene, dice: Dice) -> _Plan:
    card = _card(scene, dice, str.isalpha)
    return "erase", (card,), (), "write", (card.text,)


def _plan_rewrite(is_such: Callable[[str], bool], texts: Sequence[str]) -> Callable[[Scene, Dice], _Plan]:
    def plan(scene: Scene, dice: Dice) -> _Plan:
        card = _card(scene, dice, is_such)
        return (
            "rewrite",
            (card,),
            (dice.pick([text for text in texts if text != card.text]),),
            "rewrite",
            (card.text,),
        )

    return plan


def _plan_extend(scene: Scene, dice: Dice) -> _Plan:
    return "extend", (), (scene.series[0].kind, len(scene.series)), "remove", ()


def _plan_copy(scene: Scene, dice: Dice) -> _Plan:
    return "copy", (_single(scene, dice),), _pick(dice, scene.free_cells()), "remove", ()


OPERATIONS: dict[str, tuple[str, Callable[[Scene, Dice], _Plan]]] = {
    "move": ("place", _plan_move),
    "rotate": ("place", lambda s, d: ("rotate", (_single(s, d, TURNING),), (90,), "rotate", (-90,))),
    "mirror": ("place", lambda s, d: ("mirror", (_single(s, d, MIRRORING),), (), "mirror", ())),
    "scale": ("place", lambda s, d: ("scale", (_single(s, d),), (3, 2), "scale", (2, 3))),
    "add": ("things", _plan_add),
    "remove": ("things", _plan_remove),
    "swap": ("things", lambda s, d: ("swap", _pair(s, d), (), "swap", ())),
    "reorder": ("things", _plan_reorder),
    "recolour": ("colour", _plan_recolour),
    "swap-colours": ("colour", lambda s, d: ("swap colours", _pair(s, d), (), "swap colours", ())),
    "lighten": ("colour", _plan_tone("lighten")),
    "grey": ("colour", _plan_tone("grey")),
    "write": ("text", _plan_write),
    "erase": ("text", _plan_erase),
    "change-word": ("text", _plan_rewrite(str.isalpha, WORDS)),
    "change-number": ("text", _plan_rewrite(str.isdigit, [str(number) for number in range(10, 100)])),
    "count-up": ("counting", _plan_extend),
    "copy": ("counting", _plan_copy),
    "cross-out": ("counting", lambda s, d: ("cross out", (_single(s, d),), (), "uncross", ())),
    "sort": ("counting", _plan_sort),
}
GROUPS = tuple(dict.fromkeys(group for group, _ in OPERATIONS.values()))
_UNTARGETED = ("add", "arrange")


@lru_cache(16384)
def make_edit(scene: Scene, name: str) -> Edit:
    """An operation on a scene; Ambiguous unless each command names its things and the second restores the data."""
    group, plan = OPERATIONS[name]
    verb, things, values, back_verb, back_values = plan(
        scene, Dice(scene.seed, scene.index, 1000 + [*OPERATIONS].index(name))
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
