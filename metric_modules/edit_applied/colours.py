"""Did the whole picture lose its colours or take on a tint, and was that undone? Looks would take it for drift."""

import re
from collections.abc import Sequence

import numpy as np

from .._shared.looks import fitted

_TO_GREY = re.compile(r"\b(turn|make|convert|render)\b.*\b(monochrome|black and white|gr[ae]y)", re.IGNORECASE)
_TO_TINT = re.compile(r"\b(redd|orang|yellow|green|blu|purpl|pink)er\b", re.IGNORECASE)
WEAKEST = 2.0  # mean chroma below which a picture was monochrome before
GREYED = 0.5  # of that chroma: the most that may remain in a picture that was made monochrome
TINTED = 2.0  # delta E by which the mean colour has to move for a tint
TOWARDS = 0.5  # cosine between that move and the colour that was asked for
_HUES = {"redd": 40, "orang": 65, "yellow": 100, "green": 140, "blu": 285, "purpl": 320, "pink": 0}  # degrees in Lab


def asked(instruction: str) -> str | None:
    """The change of the whole picture's colours that is asked for: "grey" or the stem of a tint; None for others.

    >>> [asked(text) for text in ("turn the image monochrome", "make it a bit greener", "add a green apple")]
    ['grey', 'green', None]
    """
    if _TO_GREY.search(instruction):
        return "grey"
    tint = _TO_TINT.search(instruction)
    return tint[1].lower() if tint else None


def colour(cells: np.ndarray) -> float:
    """The mean chroma of a look."""
    return float(np.hypot(cells[..., 1], cells[..., 2]).mean())


def tint(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How the mean colour moved, in Lab's a and b."""
    return (after[..., 1:].mean(axis=(0, 1)) - before[..., 1:].mean(axis=(0, 1))).astype(float)


def is_made(what: str, before: np.ndarray, after: np.ndarray) -> bool:
    """Whether most of the colour is gone, or the picture as a whole moved towards the colour that was asked for."""
    if what == "grey":
        return colour(after) <= GREYED * colour(before)
    angle, move = np.deg2rad(_HUES[what]), tint(before, after)
    far = float(np.linalg.norm(move))
    return far >= TINTED and float(move @ (np.cos(angle), np.sin(angle))) >= TOWARDS * far


def left_of(
    what: str, before: np.ndarray, forward: np.ndarray, targets: Sequence[np.ndarray], back: np.ndarray
) -> float:
    """The share of the colour change that is left."""

    def size(first: np.ndarray, second: np.ndarray) -> float:
        if what == "grey":
            return float(np.linalg.norm((fitted(second, first) - first)[..., 1:], axis=2).mean())
        return float(np.linalg.norm(tint(first, second)))

    return max(size(target, back) for target in targets) / max(size(before, forward), 1e-6)
