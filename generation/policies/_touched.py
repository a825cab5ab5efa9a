"""Where an edit changed a picture, found from the two pictures of one call and nothing else."""

import re

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.float32]

# In delta E. On 144 calls of two hosted editors these find a region of 3% to 38% of the picture, and
# none where the editor changed nothing; 4 times the median is above what wear does to a picture.
_LEAST, _TIMES_MEDIAN = 6.0, 4.0
_WHOLE = 0.5  # of the picture; an edit that touches more is of the whole picture
_SMALLEST = 0.0005  # of the picture; smaller spots are grain
# A dull picture differs from its mirror image or its grey version in few places, so the words count too.
_OF_THE_WHOLE = re.compile(
    r"\b(?:flip|mirror|rotat|turn|monochrom|gr[ae]y ?scale|black and white|sepia|colou?ri[sz]|full colou?r|colou?rful"
    r"|colou?rs? back|restore|night|day|dusk|dawn|season|weather|sunset|light|bright|dark|warm|cool|blur|focus|sharp"
    r"|denois|replica|reproduc|recreat|copy|duplicat|style|sketch|edges|patches|photograph)",
    re.IGNORECASE,
)


def touched(before: Image.Image, after: Image.Image, instruction: str) -> NDArray[np.bool_] | None:
    """The pixels that the edit touched; None if it is an edit of the whole picture, such as a flip or dusk."""
    from scipy import ndimage  # a tenth of a second, which a list of policies does not need

    if before.size != after.size or _OF_THE_WHOLE.search(instruction):
        return None
    unit = min(before.size) / 512
    colours = (
        cv2.cvtColor(np.asarray(picture, np.float32) / 255, cv2.COLOR_RGB2LAB) for picture in (before, after)
    )
    first, second = (cv2.GaussianBlur(lab, (0, 0), 2 * unit).astype(np.float32) for lab in colours)
    mapped = _without_drift(first, second)
    if np.linalg.norm(mapped - second, axis=2).mean() > _LEAST:  # a drift that large was asked for
        return None
    distance = np.linalg.norm(first - mapped, axis=2)
    mask = distance > max(_LEAST, _TIMES_MEDIAN * float(np.median(distance)))
    reach = max(1, round(8 * unit))
    mask = ndimage.binary_fill_holes(ndimage.binary_closing(np.pad(mask, reach), iterations=reach))
    mask = mask[reach:-reach, reach:-reach]
    labels, count = ndimage.label(mask)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    sizes[0] = 0
    mask = (sizes >= _SMALLEST * mask.size)[labels]
    return None if mask.mean() > _WHOLE else mask


def _without_drift(first: Pixels, second: Pixels) -> Pixels:
    """`second` with gain and offset of each channel fitted to `first`, on the half that differs least."""
    mapped = second
    for _ in range(2):
        distance = np.linalg.norm(first - mapped, axis=2)
        same = distance <= np.median(distance)
        goal, given = first[same], second[same]
        spread = np.maximum(given.var(0), 1e-6)
        gain = ((goal - goal.mean(0)) * (given - given.mean(0))).mean(0) / spread
        mapped = (second - given.mean(0)) * gain + goal.mean(0)
    return mapped
