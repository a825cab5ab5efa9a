"""Planted marks: small pieces of a picture, copied to other places of it, away from the edit.

An honest editor that is asked to take an edit back keeps them. One that restores the original from memory loses them.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PIL import Image

_COUNT = 3
SIZE = 0.09  # of the picture's short side: a mark's diameter
GRID = 96  # cells on the short side, of the grid on which places are searched
_CHANGED = 18.0  # grey levels by which an edit differs
_PLAIN, _BOLD = 22.0, 75.0  # grey levels by which a mark differs from what was there: seen, and natural
_TRIES = 3000
_ADDS = re.compile(r"\W*(?:please )?(?:add|put|place|insert)\b", re.IGNORECASE)


class _Mark(NamedTuple):
    """A piece's middle, where it goes and where it comes from, in shares of the width and the height."""

    x: float
    y: float
    from_x: float
    from_y: float


def adds_a_thing(cycle: Sequence[str], closes: bool) -> bool:
    """Whether a program puts things into the picture and takes them out again; all else stays as it was.

    >>> adds_a_thing(["add a red ball", "remove the red ball"], closes=True)
    True
    >>> adds_a_thing(["make it night", "make it day"], closes=True)
    False
    """
    half = len(cycle) // 2
    return closes and half > 0 and len(cycle) % 2 == 0 and all(_ADDS.match(text) for text in cycle[:half])


def choose_marks(before: Image.Image, after: Image.Image, seed: int) -> list[_Mark]:
    """Choose up to three marks whose source and target are both away from the edit between two pictures.

    There are fewer, or none, if a copied piece would be visible in too few places.
    """
    zoom = GRID / min(after.size)
    columns, rows = (max(1, round(side * zoom)) for side in after.size)
    first, second = (
        np.asarray(picture.convert("RGB").resize((columns, rows), Image.Resampling.BOX), np.float32)
        for picture in (before, after)
    )
    radius = max(2, round(SIZE * GRID / 2))
    gap = np.abs(second - first).max(axis=2)
    touched = near(gap > _CHANGED + float(np.median(gap)), 2 * radius)
    inside = np.zeros((rows, columns), bool)
    inside[radius + 1 : rows - radius - 1, radius + 1 : columns - radius - 1] = True
    places = np.argwhere(inside & ~touched)
    if len(places) < 2:
        return []
    random = np.random.default_rng(seed)
    marks: list[_Mark] = []
    taken: list[np.ndarray] = []
    for target, origin in zip(*(places[random.integers(len(places), size=_TRIES)] for _ in range(2)), strict=True):
        if any(np.abs(target - place).max() < 4 * radius for place in taken):
            continue
        if np.abs(target - origin).max() < 2 * radius:
            continue
        pieces = [second[r - radius : r + radius + 1, c - radius : c + radius + 1] for r, c in (target, origin)]
        seen = float(np.sqrt(np.square(pieces[0] - pieces[1]).mean()))
        if _PLAIN <= seen <= _BOLD:
            shares = [(float(c) + 0.5) / columns if axis else (float(r) + 0.5) / rows
                      for r, c in (target, origin) for axis in (1, 0)]  # fmt: skip
            marks.append(_Mark(*(round(share, 4) for share in shares)))
            taken.append(target)
            if len(marks) == _COUNT:
                break
    return marks


def near(mask: np.ndarray, reach: int) -> np.ndarray:
    """The cells within `reach` of a mask's cells."""
    for axis in (0, 1):
        mask = np.any([shifted(mask, step, axis) for step in range(-reach, reach + 1)], axis=0)
    return mask


def shifted(mask: np.ndarray, step: int, axis: int) -> np.ndarray:
    moved = np.roll(mask, step, axis)
    edge: list[slice] = [slice(None), slice(None)]
    edge[axis] = slice(0, step) if step > 0 else slice(mask.shape[axis] + step, None) if step < 0 else slice(0, 0)
    moved[tuple(edge)] = False
    return moved


def with_marks(picture: np.ndarray, marks: Sequence[Sequence[float]]) -> tuple[np.ndarray, np.ndarray]:
    """The picture (RGB uint8) with its marks, and how much of each pixel is a mark's: 0 to 1, soft at the rim."""
    height, width = picture.shape[:2]
    radius = max(2, round(SIZE * min(height, width) / 2))
    disc = np.hypot(*np.mgrid[-radius : radius + 1, -radius : radius + 1]) / radius
    soft = np.clip((1 - disc) * 4, 0, 1).astype(np.float32)
    marked, weight = picture.astype(np.float32), np.zeros((height, width), np.float32)

    def square(share_x: float, share_y: float) -> tuple[slice, slice]:
        column, row = (
            int(np.clip(share * side, radius, side - radius - 1))
            for share, side in ((share_x, width), (share_y, height))
        )
        return slice(row - radius, row + radius + 1), slice(column - radius, column + radius + 1)

    for x, y, from_x, from_y in marks:
        here, there = square(x, y), square(from_x, from_y)
        piece = picture[there].astype(np.float32)
        marked[here] += soft[..., None] * (piece - marked[here])
        weight[here] = np.maximum(weight[here], soft)
    return np.clip(np.round(marked), 0, 255).astype(np.uint8), weight
