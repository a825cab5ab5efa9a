"""A simulated user who has a goal in mind, looks at the picture, and says the next correction until satisfied.

The goal is a scene with one thing changed. What the user sees is measured from the
pixels alone: the picture is compared with a drawing of the scene without that thing.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
from PIL import Image

from ...records import Chain
from .drawing import draw_scene, fill_of, thing_mask
from .operations import Edit, find_edit
from .scenes import WORDS, Scene, Thing

SIDE = 256  # pixels a side at which the user looks
# What the user is content with: thousandths of the side, share of the width, delta E of the fill.
TOLERANCES = {"move": 15.0, "scale": 0.05, "recolour": 8.0, "change-word": 0.5}
DAMAGE = 0.002  # share of the picture: the largest other region that may have changed; a small thing covers 0.003
_CHANGED = 14.0  # delta E from which a pixel differs from its drawing, as in the exact scores
_SMALLEST = 0.25  # of the thing's area: a smaller region is not the thing
_BIT = {"move": 80.0, "scale": 0.15, "recolour": 25.0}  # below it the user says "a bit"


class Look(NamedTuple):
    """What the user sees of the thing, and how much of the rest is damaged."""

    x: float  # of the middle, in thousandths of the side
    y: float
    width: float  # in thousandths, from the area
    colour: tuple[float, ...]  # Lab
    text: str
    damage: float  # share of the picture that the largest changed region away from the thing covers
    is_there: bool = True


@lru_cache(256)
def find_goal(program: str) -> Edit | None:
    """The edit whose result the user of a steering program wants; None for other programs."""
    return find_edit(program.removeprefix("steer-")) if program.startswith("steer-") else None


def next_words(chain: Chain, number: int, picture: Callable[[int], Image.Image]) -> str | None:
    """What the user says before call `number`, having seen the pictures so far; None if satisfied."""
    goal = find_goal(chain.program.id)
    if goal is None:
        return None
    seen = [look(goal, np.asarray(picture(step).convert("RGB"))) for step in range(max(0, number - 2), number)]
    if is_satisfied(goal, seen[-1]):
        return None
    return _correction(goal, seen[-1], seen[0] if number > 1 else None)


def is_satisfied(goal: Edit, seen: Look) -> bool:
    return distance(goal, seen) <= TOLERANCES[goal.name] and seen.damage <= DAMAGE


def distance(goal: Edit, seen: Look) -> float:
    """How far the thing is from what the user wants, in the unit of TOLERANCES; infinite if it is gone."""
    if not seen.is_there:
        return math.inf
    gap = _gap(goal, seen)
    return float(np.linalg.norm(gap)) if goal.name != "change-word" else float(seen.text != _things(goal)[1].text)


def _gap(goal: Edit, seen: Look) -> tuple[float, ...]:
    wanted = _wanted(goal)
    if goal.name == "move":
        return wanted.x - seen.x, wanted.y - seen.y
    if goal.name == "scale":
        return (1 - seen.width / wanted.width,)
    return tuple(float(part) for part in np.subtract(wanted.colour, seen.colour))


def _things(goal: Edit) -> tuple[Thing, Thing]:
    [(old, new)] = zip(*goal.changed, strict=True)
    return old, new


@lru_cache(256)
def _wanted(goal: Edit) -> Look:
    return look(goal, np.asarray(draw_scene(goal.after, SIDE)))


# --- seeing


def look(goal: Edit, picture: np.ndarray) -> Look:
    old, new = _things(goal)
    lab = _to_lab(picture)
    differs = _differs(lab, _empty(goal.before.without(old)))
    if old.kind == "card":  # cards stay where they are, and some are as pale as the ground
        mask, there = thing_mask(old, SIDE), True
    else:
        places = sorted(_places(differs, old), key=lambda place: _strangeness(place, lab, old, new))
        mask, there = (places[0], True) if places else (np.zeros(differs.shape, bool), False)
    near = cv2.dilate(mask.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    _, _, regions, _ = cv2.connectedComponentsWithStats((differs & ~near).astype(np.uint8), connectivity=8)
    damage = float(max(regions[1:, cv2.CC_STAT_AREA], default=0) / mask.size)
    if not there:
        return Look(0, 0, 1, (0, 0, 0), "", damage, is_there=False)
    y, x = (1000 * (part.mean() + 0.5) / SIDE for part in np.nonzero(mask))
    width = 1000 * math.sqrt(mask.sum()) / SIDE
    return Look(x, y, width, _fill(lab, mask), _read(goal, lab) if old.kind == "card" else "", damage)


def _to_lab(picture: np.ndarray) -> np.ndarray:
    small = cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    return cv2.GaussianBlur(cv2.cvtColor(small, cv2.COLOR_RGB2LAB), (0, 0), 0.7)


@lru_cache(64)
def _empty(scene: Scene) -> np.ndarray:
    return _to_lab(np.asarray(draw_scene(scene, SIDE)))


def _differs(lab: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Where two pictures differ, apart from a colour cast over the whole picture."""
    gap = lab - drawn
    return np.minimum(_length(gap), _length(gap - np.median(gap, axis=(0, 1)))) > _CHANGED


def _length(gap: np.ndarray) -> np.ndarray:
    return np.linalg.norm(gap, axis=2)


def _places(differs: np.ndarray, thing: Thing) -> list[np.ndarray]:
    """The regions that are large enough to be the thing."""
    closed = cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    count, labels = cv2.connectedComponents(closed, connectivity=8)
    least = _SMALLEST * thing_mask(thing, SIDE).sum()
    return [labels == label for label in range(1, count) if (labels == label).sum() >= least]


def _strangeness(mask: np.ndarray, lab: np.ndarray, old: Thing, new: Thing) -> float:
    """How unlike the thing a region is: its colour, its size, and its place beside the way the thing has to go."""
    colour = min(math.dist(_fill(lab, mask), _lab_of(thing)) for thing in (old, new))
    size = abs(math.log(mask.sum() / thing_mask(old, SIDE).sum()))
    y, x = (1000 * part.mean() / SIDE for part in np.nonzero(mask))
    away = min(math.dist((x, y), (thing.x, thing.y)) for thing in (old, new))
    return colour / 40 + size + away / 200


def _fill(lab: np.ndarray, mask: np.ndarray) -> tuple[float, ...]:
    inner = cv2.erode(mask.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    return tuple(float(part) for part in np.median(lab[inner if inner.any() else mask], axis=0))


def _lab_of(thing: Thing) -> tuple[float, ...]:
    pixel = np.array([[fill_of(thing)]], np.float32) / 255
    return tuple(float(part) for part in cv2.cvtColor(pixel, cv2.COLOR_RGB2LAB)[0, 0])


def _read(goal: Edit, lab: np.ndarray) -> str:
    """The word on the card: the one whose drawing comes nearest; empty if none comes near."""
    gaps = {word: float(_length(lab - drawn)[where].mean()) for word, drawn, where in _cards(goal)}
    best = min(gaps, key=gaps.__getitem__)
    return best if gaps[best] < _CHANGED / 2 else ""


@lru_cache(16)
def _cards(goal: Edit) -> list[tuple[str, np.ndarray, np.ndarray]]:
    card, _ = _things(goal)
    where = thing_mask(card, SIDE)
    drawings = [(word, goal.before.changed(card, text=word)) for word in WORDS]
    return [(word, _to_lab(np.asarray(draw_scene(scene, SIDE))), where) for word, scene in drawings]


# --- saying


def _correction(goal: Edit, seen: Look, earlier: Look | None = None) -> str:
    """The user's next words: what is still wrong with the thing, or else with the rest of the picture."""
    old, new = _things(goal)
    name = f"the {old.kind}" if old.kind != "card" else f"the card with the word {seen.text or old.text}"
    if not seen.is_there:
        return f"{name[0].upper()}{name[1:]} is gone. Put it back."
    if distance(goal, seen) <= TOLERANCES[goal.name]:
        return f"Leave {name} as it is now, and put back everything else that has changed."
    if goal.name == "change-word":
        return f"Change the word on {name} to {new.text}."
    gap, far = _gap(goal, seen), distance(goal, seen)
    bit = "a bit " if far < _BIT[goal.name] else ""
    if goal.name == "move":
        return f"Move {name} {bit}{_directions(gap)}."
    if goal.name == "scale":
        return f"Make {name} {bit}{'larger' if gap[0] > 0 else 'smaller'}: {1 / (1 - gap[0]):.0%} of its width."
    if earlier is None:
        return f"Make {name} {new.colour}."
    back = " than now, but less than before" if np.dot(gap, _gap(goal, earlier)) < 0 else ""
    return f"Make {name} {bit}{_shade(gap)}{back}."


def _directions(gap: tuple[float, ...]) -> str:
    ways = [("to the right", "to the left"), ("down", "up")]
    parts = [
        f"{way[int(part < 0)]} by {abs(part) / 10:.0f}% of the picture"
        for part, way in zip(gap, ways, strict=True)
        if abs(part) >= 5
    ]
    return " and ".join(parts)


def _shade(gap: tuple[float, ...]) -> str:
    words = (("lighter", "darker"), ("redder", "greener"), ("yellower", "bluer"))
    largest = int(np.argmax(np.abs(gap)))
    return words[largest][int(gap[largest] < 0)]
