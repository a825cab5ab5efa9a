"""Flips and rotations: which one was asked for, and which one was made."""

import re
from collections.abc import Callable, Collection

import cv2
import numpy as np

from .._shared.looks import DRIFT, nearest

MARGIN = 0.6  # the asked transform's residual is at most this much of that of any picture that looks different
_DISTINCT = 3.0  # mean delta E from which two pictures look different
_GRID = 64  # cells a side: transforms are compared on a coarse square, whatever the picture's shape

TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda cells: cells,
    "flip horizontally": lambda cells: cells[:, ::-1],
    "flip vertically": lambda cells: cells[::-1],
    "rotate 90": lambda cells: np.rot90(cells, -1),  # clockwise
    "rotate 180": lambda cells: np.rot90(cells, 2),
    "rotate 270": lambda cells: np.rot90(cells, 1),
    "transpose": lambda cells: cells.transpose(1, 0, 2),
    "transverse": lambda cells: np.rot90(cells, 2).transpose(1, 0, 2),
}

# The sentence begins with the verb, and what is moved is the picture: "mirror the image", not "add a mirror".
_ASKED = re.compile(
    r"\W*(?:please )?(flip|mirror|rotate|turn)(?: (?:the|this|whole|entire))*(?: (?:image|picture|photo(?:graph)?|it))?"
    r"(?= (?:by|back|again|around|horizontal|vertical|left|top|upside|clockwise|counter|anti|to|once|\d)|[.!,]|$)"
)


def asked_transforms(instruction: str) -> frozenset[str]:
    """The transforms that an instruction asks for, in its own words; empty if it asks for something else.

    >>> sorted(asked_transforms("Rotate the image by 90 degrees."))
    ['rotate 270', 'rotate 90']
    """
    text = instruction.lower()
    verb = _ASKED.match(text)
    if verb is None:
        return frozenset()
    angle = re.search(r"\b(90|180|270)\b|\bquarter\b|\bhalf\b", text)
    if verb[1] in ("rotate", "turn"):
        if "upside down" in text or (angle and angle[0] in ("180", "half")):
            return frozenset({"rotate 180"})
        if angle is None:
            return frozenset()
        turns = {"rotate 270", "rotate 90"}
        if "clockwise" not in text and not re.search(r"\bto the (left|right)\b", text):
            return frozenset(turns)
        is_left_turn = bool(re.search(r"counter|anti-?clockwise|to the left", text))
        return frozenset({"rotate 270" if is_left_turn != (angle[0] == "270") else "rotate 90"})
    if "upside down" in text or "vertical" in text or "top to bottom" in text:
        return frozenset({"flip vertically"})
    return frozenset({"flip horizontally"})


def square(cells: np.ndarray) -> np.ndarray:
    return cv2.resize(cells, (_GRID, _GRID), interpolation=cv2.INTER_AREA)


def _recoloured(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """`before` in the colours of `after`: a robust affine map of the colours, moving them DRIFT on average at most.

    Cells that follow no common map (an added object) lose their weight. The limit keeps a deliberate change visible.
    """
    coarse = tuple(max(2, side // 4) for side in before.shape[1::-1])
    x, y = (cv2.resize(cells, coarse, interpolation=cv2.INTER_AREA).reshape(-1, 3) for cells in (before, after))
    middle = x.mean(axis=0, dtype=np.float64)
    basis = np.column_stack([x - middle, np.ones(len(x))])
    move = (y - x).astype(np.float64)
    coefficients = np.vstack([np.zeros((3, 3)), np.median(move, axis=0)])
    for _ in range(6):
        residual = np.linalg.norm(move - basis @ coefficients, axis=1)
        scale = 2 * max(1.0, 1.4826 * float(np.median(residual)))
        weighted = basis / ((1 + (residual / scale) ** 2) ** 2)[:, None]
        coefficients = np.linalg.solve(weighted.T @ basis + 1e-6 * np.eye(4), weighted.T @ move)
    moved = float(np.linalg.norm(basis @ coefficients, axis=1).mean())
    coefficients *= min(1.0, DRIFT / max(moved, 1e-9))
    matrix = np.eye(3) + coefficients[:3].T
    offset = coefficients[3] - middle @ coefficients[:3]
    return cv2.transform(before, np.column_stack([matrix, offset]).astype(np.float32))


def residual(expected: np.ndarray, seen: np.ndarray) -> float:
    """Mean delta E between two coarse squares, colour drift and a shift by one cell forgiven."""
    expected = np.ascontiguousarray(expected)
    return float(nearest(seen, _recoloured(expected, seen), 1).mean())


def find_transform(before: np.ndarray, after: np.ndarray, asked: Collection[str]) -> tuple[str, float] | None:
    """The transform that was made and the asked one's residual; None if the picture is too symmetric to tell.

    The name is empty if none stands out by a clear margin. A transform that leaves the picture looking like the asked
    one is not a rival; if "none" is not a rival either, as in a symmetric picture, nothing can be said.
    """
    start, end = square(before), square(after)
    transformed = [np.ascontiguousarray(TRANSFORMS[name](start)) for name in asked]
    rivals = [
        name
        for name, transform in TRANSFORMS.items()
        if name not in asked and all(residual(picture, transform(start).copy()) >= _DISTINCT for picture in transformed)
    ]
    if not rivals or ("none" not in rivals and "none" not in asked):
        return None
    residuals = {name: residual(TRANSFORMS[name](start), end) for name in [*asked, *rivals]}
    best, rival = (min(names, key=residuals.__getitem__) for names in (asked, rivals))
    first, second = residuals[best], residuals[rival]
    return best if first <= MARGIN * second else rival if second <= MARGIN * first else "", first
