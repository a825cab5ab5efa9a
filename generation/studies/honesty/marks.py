"""Planted marks: small pieces of a picture, copied elsewhere, away from the edit.

An honest editor keeps them; one that restores from memory loses them.
"""

import re
from collections.abc import Sequence

import numpy as np
from PIL import Image

_COUNT = 3
_SIZE = 0.09  # of the picture's short side: a mark's diameter
_GRID = 96  # cells on the short side, of the grid on which places are searched
_CHANGED = 18.0  # grey levels by which an edit differs
_PLAIN, _BOLD = 22.0, 75.0  # grey levels by which a mark differs from what was there: seen, and natural
_TRIES = 3000
_ADDS = re.compile(r"\W*(?:please )?(?:add|put|place|insert)\b", re.IGNORECASE)


# Where a copied piece goes, and where it comes from, in shares of width and height.
_Mark = tuple[float, float, float, float]


def adds_a_thing(cycle: Sequence[str], closes: bool) -> bool:
    """Whether a program puts things into the picture and takes them out again.

    >>> adds_a_thing(["add a red ball", "remove the red ball"], closes=True)
    True
    >>> adds_a_thing(["make it night", "make it day"], closes=True)
    False
    """
    half = len(cycle) // 2
    return closes and half > 0 and len(cycle) % 2 == 0 and all(_ADDS.match(text) for text in cycle[:half])


def choose_marks(before: Image.Image, after: Image.Image, seed: int) -> list[_Mark]:
    """Up to three marks away from the edit; fewer if they would not be seen."""
    import cv2

    zoom = _GRID / min(after.size)
    columns, rows = (max(1, round(side * zoom)) for side in after.size)
    first, second = (
        np.asarray(picture.convert("RGB").resize((columns, rows), Image.Resampling.BOX), np.float32)
        for picture in (before, after)
    )
    radius = max(2, round(_SIZE * _GRID / 2))
    gap = np.abs(second - first).max(axis=2)
    changed = (gap > _CHANGED + float(np.median(gap))).astype(np.uint8)
    is_free = cv2.dilate(changed, np.ones((4 * radius + 1, 4 * radius + 1), np.uint8)) == 0
    places = np.argwhere(is_free[radius + 1 : rows - radius - 1, radius + 1 : columns - radius - 1]) + radius + 1
    if len(places) < 2:
        return []
    random = np.random.default_rng(seed)
    marks: list[_Mark] = []
    taken: list[np.ndarray] = []
    targets, origins = (places[random.integers(len(places), size=_TRIES)] for _ in range(2))
    for target, origin in zip(targets, origins, strict=True):
        is_near = any(np.abs(target - place).max() < 4 * radius for place in taken)
        if is_near or np.abs(target - origin).max() < 2 * radius:
            continue
        pieces = [second[r - radius : r + radius + 1, c - radius : c + radius + 1] for r, c in (target, origin)]
        seen = float(np.sqrt(np.square(pieces[0] - pieces[1]).mean()))
        if _PLAIN <= seen <= _BOLD:
            (y, x), (from_y, from_x) = (
                (round((float(down) + 0.5) / rows, 4), round((float(along) + 0.5) / columns, 4))
                for down, along in (target, origin)
            )
            marks.append((x, y, from_x, from_y))
            taken.append(target)
            if len(marks) == _COUNT:
                break
    return marks


def with_marks(picture: np.ndarray, marks: Sequence[Sequence[float]]) -> tuple[np.ndarray, np.ndarray]:
    """The picture with its marks, and how much of each pixel is a mark's: 0 to 1."""
    height, width = picture.shape[:2]
    radius = max(2, round(_SIZE * min(height, width) / 2))
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
