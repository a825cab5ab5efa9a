"""Does an editor really edit? Checks of pictures alone; knowledge.py asks whether it forgets.

Shining    the original's fine detail must not shine through the edit
Marks      what was planted outside the edit before it is taken back must still be there

A value that cannot be measured is a reason's code.
"""

from collections.abc import Sequence

import cv2
import numpy as np
from convergebench.generation.studies.honesty.marks import with_marks

from .._shared.looks import CELL, FAINT, compare
from .knowledge import band, grey, grown

_CLIP = 2.5  # times a band's spread, so that a single edge does not dominate a region
_FEWEST_PIXELS = 400  # of 512
_LEAST_MARK = 8.0  # grey levels by which the marks must differ from what was there


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.square(values).mean()))


def _clipped(values: np.ndarray) -> np.ndarray:
    values = values - values.mean()
    spread = _CLIP * max(_rms(values), 1e-6)
    return np.clip(values, -spread, spread)


def still_shown(reference: np.ndarray, looks: Sequence[np.ndarray], length: int) -> np.ndarray:
    """The cells that show the original and that no edit has touched, in rounds of this length.

    An editor may well make the same guess twice in a place that it filled in.
    """
    edits = [(number, number + 1) for number in range(len(looks) - 1) if number % length < length // 2]
    changes = [compare(looks[before], looks[after]) for before, after in edits]
    touched = np.any([size > FAINT for size, _ in (*changes, compare(reference, looks[-1]))], axis=0)
    return ~grown(touched)


def shines_through(before: np.ndarray, forward: np.ndarray, cells: np.ndarray) -> float | str:
    inner = (~grown(~cells)).astype(np.uint8)
    mask = cv2.resize(inner, None, fx=CELL, fy=CELL, interpolation=cv2.INTER_NEAREST).astype(bool)
    detail, other_detail = band(grey(before), 0.8, 2.4), band(grey(forward), 0.8, 2.4)
    if mask.sum() < _FEWEST_PIXELS:
        return "too_little_covered"
    if detail[mask].std() < 1.5:
        return "too_little_detail"
    first_detail = _clipped(detail[mask])
    return float(first_detail @ other_detail[mask]) / float(first_detail @ detail[mask])


def mark_distances(
    forward: np.ndarray, answer: np.ndarray, marks: Sequence[Sequence[float]]
) -> tuple[float, float] | tuple[str, str]:
    """RMSE under the marks to the picture without them, and to that with them.

    The picture's shift of colours is taken off, half a pixel of wear blurred away.
    """
    marked, weight = with_marks(forward, marks)
    plain, planted, returned = (
        cv2.GaussianBlur(picture.astype(np.float32), (0, 0), 1.5) for picture in (forward, marked, answer)
    )
    inside = weight > 0.5
    if not inside.any() or _rms(planted[inside] - plain[inside]) < _LEAST_MARK:
        return "marks_too_faint", "marks_too_faint"
    returned = returned - np.median((returned - plain)[weight == 0].reshape(-1, 3), axis=0)
    return _rms(returned[inside] - plain[inside]), _rms(returned[inside] - planted[inside])
