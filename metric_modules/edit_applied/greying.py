"""Was a picture of weak colour made monochrome, and did its colours come back? To the eye of a look that is drift."""

import re
from collections.abc import Sequence

import numpy as np

from .looks import fitted

ASKED = re.compile(r"\b(turn|make|convert|render)\b.*\b(monochrome|black and white|gr[ae]y)", re.IGNORECASE)
WEAKEST = 2.0  # mean chroma of a picture: with less it was monochrome before
GREYED = 0.5  # of that: the most that a picture keeps which was made monochrome


def colour(cells: np.ndarray) -> float:
    """The mean chroma of a look."""
    return float(np.hypot(cells[..., 1], cells[..., 2]).mean())


def moved(first: np.ndarray, second: np.ndarray) -> float:
    """The mean difference of chroma and hue between two looks."""
    return float(np.linalg.norm((fitted(second, first) - first)[..., 1:], axis=2).mean())


def is_made(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether most of the colour is gone."""
    return colour(after) <= GREYED * colour(before)


def left_of(before: np.ndarray, forward: np.ndarray, targets: Sequence[np.ndarray], back: np.ndarray) -> float:
    """How much of the loss of colour is left."""
    return max(moved(target, back) for target in targets) / max(moved(before, forward), 1e-6)
