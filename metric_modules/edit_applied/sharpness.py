"""Was a picture blurred, or sharpened? Judged in a band of fine detail, since looks are blurred themselves."""

import re
from collections.abc import Sequence

import cv2
import numpy as np

from .._shared.looks import fitted, sized, smooth

_ASKED = re.compile(r"\W*(please )?(un)?(blur|sharpen)\b", re.IGNORECASE)
BLURRED, SHARPENED = 0.70, 1.25  # gain of fine detail at which a picture was blurred, or sharpened
_TEXTURED = 2.0  # grey levels: the least detail of a block for its gain to be measured
_BLOCK = 32  # pixels of the short side's 512
_FEWEST = 8  # textured blocks
_SHIFT = 20  # pixels by which the whole picture may have moved
_FAINTEST = 0.05  # a smaller gain is taken for this


def asks_for_sharpness(instructions: Sequence[str]) -> str | None:
    """The verb of the first instruction that is about the whole picture's sharpness.

    >>> asks_for_sharpness(["blur the image", "sharpen the blurred image"])
    'blur'
    """
    matches = [match for match in map(_ASKED.match, instructions) if match]
    if not matches:
        return None
    verb = matches[0][3].lower()
    return "sharpen" if matches[0][2] or verb == "sharpen" else "blur"


def grey(picture: np.ndarray) -> np.ndarray:
    """An RGB uint8 picture in grey (uint8), at the size of looks."""
    return cv2.cvtColor(sized(picture), cv2.COLOR_RGB2GRAY)


def _bands(shown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A grey picture's fine and coarse detail."""
    values = shown.astype(np.float32)
    return smooth(values, 0.8) - smooth(values, 2.4), smooth(values, 5.0) - smooth(values, 15.0)


def gain(before: np.ndarray, after: np.ndarray) -> float | None:
    """How strongly the fine detail of one grey picture is in another: 1 is unchanged, None if it has none.

    The median over all blocks with detail. A projection, not a ratio of energies: noise, which has detail of its own,
    changes nothing. Contrast moves coarse detail as well; what it does to that is taken out.
    """
    (fine, coarse), (other, other_coarse) = _bands(before), _bands(fitted(after, before))
    core, wide = (band[_SHIFT:-_SHIFT, _SHIFT:-_SHIFT] for band in (fine, coarse))
    core = np.ascontiguousarray(core)
    rows, columns = core.shape
    fits = cv2.matchTemplate(other, core, cv2.TM_CCORR)
    down, right = np.unravel_index(int(fits.argmax()), fits.shape)
    moved, moved_wide = (band[down : down + rows, right : right + columns] for band in (other, other_coarse))
    size = (max(1, columns // _BLOCK), max(1, rows // _BLOCK))
    power = cv2.resize(core * core, size, interpolation=cv2.INTER_AREA)
    shared = cv2.resize(core * moved, size, interpolation=cv2.INTER_AREA)
    textured = power > _TEXTURED**2
    if textured.sum() < _FEWEST:
        return None
    contrast = float((wide * moved_wide).sum()) / max(float((wide * wide).sum()), 1e-6)
    return float(np.median(shared[textured] / power[textured])) / min(max(contrast, 0.5), 2.0)


def is_made(verb: str, strength: float) -> bool:
    """Whether a gain is that of the edit asked for."""
    return strength <= BLURRED if verb == "blur" else strength >= SHARPENED


def distance(strength: float) -> float:
    """The size of a gain, 0 for an unchanged picture; that of a Gaussian blur grows with its variance."""
    return abs(float(np.log(max(strength, _FAINTEST))))


def left_of(forward: float, returned: Sequence[float]) -> float:
    """The share of the change of sharpness that is left, from the gains of the edit and of the return."""
    return max(map(distance, returned)) / max(distance(forward), 1e-6)
