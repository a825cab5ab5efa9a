"""Does a further pass undo or deepen the first? The angle between what the two changed, pixel by pixel."""

from collections.abc import Sequence

import cv2
import numpy as np

from .._shared.looks import fitted
from .._shared.scoring import Program, Value

_SIDE = 512  # pixels of the short side at which changes are compared
_STILL = 0.05  # grey levels; a smaller change counts as none


def _direction(first: np.ndarray, further: np.ndarray) -> tuple[float, float] | None:
    """The cosine between two changes, and the second's size by the first's.

    >>> up = np.full((2, 2, 3), 4.0)
    >>> _direction(up, -up / 2), _direction(up, 0 * up)
    ((-1.0, 0.5), None)
    """
    further = fitted(further, first)
    sizes = [float(np.sqrt(np.square(change, dtype=np.float64).mean())) for change in (first, further)]
    if min(sizes) < _STILL:
        return None
    cosine = float((first.astype(np.float64) * further).mean()) / (sizes[0] * sizes[1])
    return min(max(cosine, -1.0), 1.0), sizes[1] / sizes[0]


signature = {"version": 1, "side": _SIDE}


def reduce(picture: np.ndarray) -> np.ndarray:
    height, width = picture.shape[:2]
    zoom = _SIDE / min(height, width)
    size = (max(1, round(width * zoom)), max(1, round(height * zoom)))
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA if zoom < 1 else cv2.INTER_CUBIC)


def judge(
    program: Program, position: int, pictures: Sequence[np.ndarray | None], reference: None
) -> dict[str, Value]:
    names = ("pass_direction", "pass_size")
    if len(program["cycle"]) > 1:
        return dict.fromkeys(names, "several_instructions")
    seen = [*program["earlier"], *pictures]
    if len(seen) < 3:
        return dict.fromkeys(names, "first_pass")
    needed = [seen[place] for place in (0, 1, -2, -1)]
    if any(picture is None for picture in needed):
        return dict.fromkeys(names, "pass_missing")
    changes = [
        fitted(after, before).astype(np.float32) - before.astype(np.float32)
        for before, after in (needed[:2], needed[2:])
    ]
    values = _direction(*changes)
    return dict(zip(names, values, strict=True)) if values else dict.fromkeys(names, "pass_unchanged")
