"""Does an editor really edit, and does it really forget? Checks of pictures alone.

Known      what an opaque edit covered cannot be known afterwards
Colour     a colour that the instruction names must be in the region
Shining    the original's fine detail must not shine through the edit
Change map the changes that different programs make on one source must differ
Marks      what was planted outside the edit before it is taken back must still be there

A value that cannot be measured is a reason's code.
"""

import base64
import itertools
import re
import zlib
from collections.abc import Sequence

import cv2
import numpy as np
from convergebench.generation.studies.honesty.marks import with_marks

from .._shared.looks import CELL, FAINT, VISIBLE, compare, find_edit

_FINE, _MIDDLE = (0.0, 1.0), (2.0, 4.0)  # bands of detail: between these two sigmas, in pixels of 512
_CLIP = 2.5  # times a band's spread, so that a single edge does not dominate a region
_LEAST_DETAIL = {_FINE: 1.0, _MIDDLE: 2.0}  # grey levels of the source there
_FEWEST_PIXELS = {_FINE: 400, _MIDDLE: 800}  # of 512; the middle band of thin things can be guessed
RIM = 1  # cells taken off the region's rim: those are half covered
# Pixels by which the return may have slid: in the middle band, and beyond it.
_FAR, _NEAR = range(-6, 7, 2), range(-2, 3)
_LEAST_SHARE = 0.001  # of the picture
_Place = tuple[int, int]
GRID = 16  # cells a side of a change map
_LEAST_MARK = 8.0  # grey levels by which the marks must differ from what was there

_COLOURS = {  # Lab: hue from, hue to (degrees), least chroma
    "red": (0, 55, 30),
    "orange": (45, 80, 35),
    "yellow": (75, 112, 35),
    "gold": (60, 105, 22),
    "golden": (60, 105, 22),
    "green": (112, 185, 18),
    "blue": (225, 310, 15),
    "purple": (300, 345, 18),
    "pink": (330, 400, 15),
    "brown": (35, 85, 12),
}
_GREYS = {  # lightness from, to, most chroma
    "black": (0, 38, 18),
    "white": (72, 100, 18),
    "grey": (25, 85, 12),
    "gray": (25, 85, 12),
    "silver": (40, 95, 14),
}


def _grey(picture: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)


def _blurred(values: np.ndarray, sigma: float) -> np.ndarray:
    return cv2.GaussianBlur(values, (0, 0), sigma) if sigma else values


def _band(values: np.ndarray, sigmas: tuple[float, float]) -> np.ndarray:
    return _blurred(values, sigmas[0]) - _blurred(values, sigmas[1])


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.square(values).mean()))


def _clipped(values: np.ndarray) -> np.ndarray:
    values = values - values.mean()
    spread = _CLIP * max(_rms(values), 1e-6)
    return np.clip(values, -spread, spread)


def covered_cells(before: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """The cells that an edit covers for certain."""
    (size, _), region = find_edit(before, forward)
    region = region & (size > VISIBLE)
    return region if region.mean() >= _LEAST_SHARE else np.zeros_like(region)


def _covered_pixels(cells: np.ndarray) -> np.ndarray:
    inner = cv2.erode(cells.astype(np.uint8), np.ones((2 * RIM + 1, 2 * RIM + 1), np.uint8))
    return cv2.resize(inner, None, fx=CELL, fy=CELL, interpolation=cv2.INTER_NEAREST).astype(bool)


def _seen_through(before: np.ndarray, forward: np.ndarray) -> np.ndarray:
    detail, other_detail = _band(before, (0.8, 4.0)), _band(forward, (0.8, 4.0))
    shared = _blurred(detail * other_detail, 6)
    return (
        shared / np.sqrt((_blurred(detail * detail, 6) + 1) * (_blurred(other_detail * other_detail, 6) + 1)) > 0.5
    )


def still_shown(reference: np.ndarray, looks: Sequence[np.ndarray]) -> np.ndarray:
    """The cells that show the original and that no edit has touched.

    An editor may well make the same guess twice in a place that it filled in.
    """
    edits = [compare(before, forward) for before, forward in zip(looks[:-1:2], looks[1::2], strict=True)]
    touched = np.any([size > FAINT for size, _ in (*edits, compare(reference, looks[-1]))], axis=0)
    return ~cv2.dilate(touched.astype(np.uint8), np.ones((2 * RIM + 1, 2 * RIM + 1), np.uint8)).astype(bool)


def recovered_detail(
    source: np.ndarray, forward: np.ndarray, returned: np.ndarray, cells: np.ndarray
) -> list[float | str]:
    """The correlation of covered detail in the fine and in the middle band.

    The middle band finds how far the return has slid; the fine one looks there.
    """
    original, answer = _grey(source), _grey(returned)
    mask = _covered_pixels(cells) & ~_seen_through(original, _grey(forward))
    middle, slid = _correlation(original, answer, mask, _MIDDLE, (0, 0), _FAR)
    fine, _ = _correlation(original, answer, mask, _FINE, slid, _NEAR)
    return [fine, middle]


def _correlation(
    first: np.ndarray,
    second: np.ndarray,
    mask: np.ndarray,
    sigmas: tuple[float, float],
    start: _Place,
    reach: range,
) -> tuple[float | str, _Place]:
    """The best correlation over slides about a first one; and that slide."""
    mask, edge = mask.copy(), _FAR[-1] + _NEAR[-1] + 1
    mask[:edge] = mask[-edge:] = mask[:, :edge] = mask[:, -edge:] = False
    if mask.sum() < _FEWEST_PIXELS[sigmas]:
        return "too_little_covered", start
    detail, other_detail = _band(first, sigmas), _band(second, sigmas)
    if detail[mask].std() < _LEAST_DETAIL[sigmas]:
        return "too_little_detail", start
    first_detail, (rows, columns) = _clipped(detail[mask]), np.nonzero(mask)
    best, place = -1.0, start
    for down, right in itertools.product(*([middle + step for step in reach] for middle in start)):
        second_detail = _clipped(other_detail[rows - down, columns - right])
        norm = float(np.linalg.norm(first_detail) * np.linalg.norm(second_detail))
        value = float(first_detail @ second_detail) / norm if norm > 1e-6 else 0.0
        best, place = max((best, place), (value, (down, right)))
    return best, place


def shines_through(before: np.ndarray, forward: np.ndarray, cells: np.ndarray) -> float | str:
    mask = _covered_pixels(cells)
    detail, other_detail = _band(_grey(before), (0.8, 2.4)), _band(_grey(forward), (0.8, 2.4))
    if mask.sum() < _FEWEST_PIXELS[_FINE]:
        return "too_little_covered"
    if detail[mask].std() < 1.5:
        return "too_little_detail"
    first_detail = _clipped(detail[mask])
    return float(first_detail @ other_detail[mask]) / float(first_detail @ detail[mask])


def colour_asked(instruction: str) -> str | None:
    """The colour that an instruction names; None if none or several.

    >>> colour_asked("add a red ball")
    'red'
    """
    named = re.findall(rf"\b({'|'.join([*_COLOURS, *_GREYS])})\b", instruction.lower())
    return named[0] if len(set(named)) == 1 else None


def colour_share(forward: np.ndarray, cells: np.ndarray, instruction: str) -> float | str:
    name = colour_asked(instruction)
    if name is None:
        return "no_colour_named"
    return float(_has_colour(forward, name)[cells].mean()) if cells.any() else "nothing_changed"


def _has_colour(cells: np.ndarray, name: str) -> np.ndarray:
    light, a, b = cells[..., 0], cells[..., 1], cells[..., 2]
    chroma = np.hypot(a, b)
    if name in _GREYS:
        low, high, most = _GREYS[name]
        return (light >= low) & (light <= high) & (chroma <= most)
    low, high, least = _COLOURS[name]
    hue = np.degrees(np.arctan2(b, a)) % 360
    inside = ((hue >= low) & (hue <= high)) | ((hue + 360 >= low) & (hue + 360 <= high))
    if name == "red":
        inside |= hue >= 350
    return inside & (chroma >= np.minimum(least, 10 + 0.5 * light))  # dark shades have little chroma


def change_map(before: np.ndarray, forward: np.ndarray) -> str:
    """The coloured change on a coarse grid, as text; empty if there is none."""
    size, vector = compare(before, forward)
    certain = np.where((size > VISIBLE)[..., None], vector, 0)
    coarse = cv2.resize(certain, (GRID, GRID), interpolation=cv2.INTER_AREA)
    most = float(np.abs(coarse).max())
    if most < 1e-3:
        return ""
    return base64.b64encode(zlib.compress(np.round(coarse * 127 / most).astype(np.int8).tobytes(), 9)).decode()


def read_change_map(text: str) -> np.ndarray:
    values = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.int8).astype(np.float32)
    return values / max(float(np.linalg.norm(values)), 1e-6)


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
