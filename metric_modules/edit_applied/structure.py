"""Compares local structure, which distinguishes a repainted face from a worn one in the same colours."""

import cv2
import numpy as np

from .._shared.looks import smooth, together

# This finds what the colour rule misses, such as a face repainted in the same colours.
ALIKE = 0.6  # correlation of a neighbourhood's structure, below which something else is drawn there
STRANGE = 0.2  # the same limit however worn the whole picture is
WORN = 0.25  # the most that wear takes of the correlation at the median; twenty rounds of it took 0.21
CONTRAST = 3.0  # grey levels (of 100): the least local contrast in which structure can be compared
_BLURS = (0.0, 0.7, 1.2)  # cells: sigmas by which the whole return may be softer than the source
COARSE, WINDOW = 3.0, 1.5  # cells: sigma of what is taken off as shading, and of the neighbourhood


def likeness(source: np.ndarray, returned: np.ndarray) -> np.ndarray:
    """Around every cell, how well the structure of one look correlates with that of the other; 1 if there is none.

    Shading is taken off first, so that neither cast nor light matters. Blur of the whole picture is not the loss of a
    part: the source is compared both unchanged and blurred, and the version that fits the whole picture best counts.
    Around each cell, the best shift by one cell counts.
    """
    result = np.ones(source.shape[:2], np.float32)
    source, returned, overlap = together(source, returned)
    light, other = (np.ascontiguousarray(cells[..., 0]) for cells in (source, returned))
    rows, columns = light.shape
    padded = cv2.copyMakeBorder(other - smooth(other, COARSE), 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    shifts = [
        np.ascontiguousarray(padded[down : down + rows, right : right + columns])
        for down in range(3)
        for right in range(3)
    ]
    powers = [smooth(shifted * shifted, WINDOW) + 1 for shifted in shifts]
    best_mean = -2.0
    for blur in _BLURS:
        blurred = smooth(light, blur) if blur else light
        first = blurred - smooth(blurred, COARSE)
        power = smooth(first * first, WINDOW)
        best = np.full(first.shape, -1, np.float32)
        for shifted, strength in zip(shifts, powers, strict=True):
            np.maximum(best, smooth(first * shifted, WINDOW) / np.sqrt((power + 1) * strength), out=best)
        structured = power > CONTRAST**2
        mean = float(best[structured].mean()) if structured.any() else 1.0
        if mean > best_mean:
            best_mean, result[overlap] = mean, np.where(structured, best, 1)
    return result
