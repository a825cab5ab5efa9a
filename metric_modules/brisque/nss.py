"""Natural scene statistics, the features that no-reference metrics compute from one picture, and their scorers.

Grey levels are normalised by their local contrast; in photographs the
result follows a bell curve, and damage changes its shape. The definitions
are those of the published MATLAB releases, down to how edges are padded.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import cv2
import numpy as np

from .._shared.scoring import Loaded, PairScorer, Reason, Signature

# The grid of the published MATLAB code: 0.2 to 10 in steps of 0.001.
_SHAPES = np.arange(200, 10001) / 1000  # the shapes that are tried for a generalised Gaussian
NEIGHBOURS = ((0, 1), (1, 0), (1, 1))  # and one diagonal more, which differs between the metrics
# ITU-R BT.601, as MATLAB's rgb2gray has it.
GREY = (299, 587, 114)  # thousandths of red, green and blue


def luma(picture: np.ndarray) -> np.ndarray:
    """Grey levels of an RGB picture of bytes, rounded as MATLAB's rgb2gray rounds them.

    >>> luma(np.full((1, 2, 3), 7, np.uint8))
    array([[7., 7.]])
    """
    return np.rint(picture.astype(np.float64) @ np.array(GREY, np.float64) / 1000)


def contrast_normalised(
    grey: np.ndarray, border: int = cv2.BORDER_REPLICATE, kind: type = np.float64
) -> np.ndarray:
    """Each value minus its local mean, divided by its local deviation plus 1, in a Gaussian window.

    In flat areas the result is rounding error, whose sign is counted. So the precision of the
    window and `kind` are those of the implementation that produced the published numbers.
    """
    values: np.ndarray = grey.astype(kind)
    depth = cv2.CV_64F if kind is np.float64 else cv2.CV_32F
    mean = cv2.filter2D(values, depth, _window(), borderType=border)
    square = cv2.filter2D(values * values, depth, _window(), borderType=border)
    deviation = np.sqrt(np.abs(square - mean * mean) + np.finfo(kind).eps)
    return ((values - mean) / (deviation + 1)).astype(np.float64)


@cache
def _window() -> np.ndarray:
    squares = (np.arange(7) - 3.0) ** 2
    weights = np.exp(-(squares[:, None] + squares) / (2 * (7 / 6) ** 2))
    return (weights / weights.sum()).astype(np.float32)


def log_gamma(values: np.ndarray) -> np.ndarray:
    from scipy.special import gammaln  # a tenth of a second, which a list of metrics does not need

    return np.asarray(gammaln(values))


@cache
def _asymmetric_ratios() -> np.ndarray:
    """E|x|^2 / E[x^2] of a generalised Gaussian, for every shape; it grows with the shape."""
    return np.exp(2 * log_gamma(2 / _SHAPES) - log_gamma(1 / _SHAPES) - log_gamma(3 / _SHAPES))


def _nearest_shape(ratios: np.ndarray) -> np.ndarray:
    table = _asymmetric_ratios()
    above = np.clip(np.searchsorted(table, ratios), 1, len(table) - 1)
    nearest = np.where(ratios - table[above - 1] <= table[above] - ratios, above - 1, above)
    return np.where(np.isnan(ratios), np.nan, _SHAPES[nearest])


def symmetric_fit(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shape and deviation of a generalised Gaussian around 0, for each row of values."""
    with np.errstate(invalid="ignore", divide="ignore"):
        square = (values * values).mean(-1)
        return _nearest_shape(np.abs(values).mean(-1) ** 2 / square), np.sqrt(square)


def asymmetric_fit(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shape, left and right deviation of an asymmetric generalised Gaussian, row by row; NaN if a side is empty."""
    square = values * values
    is_left, total = values < 0, square.sum(-1)
    left_sum = np.where(is_left, square, 0).sum(-1)
    left_count, right_count = is_left.sum(-1), (values > 0).sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        left, right = np.sqrt(left_sum / left_count), np.sqrt((total - left_sum) / right_count)
        skew = left / right
        ratio = np.abs(values).mean(-1) ** 2 / (total / values.shape[-1])
        return _nearest_shape(ratio * (skew**3 + 1) * (skew + 1) / (skew**2 + 1) ** 2), left, right


def half_size(grey: np.ndarray) -> np.ndarray:
    """Half as wide and high, by MATLAB's imresize: bicubic, widened against aliasing, edges mirrored.

    >>> half_size(np.full((4, 6), 3.0))
    array([[3., 3., 3.],
           [3., 3., 3.]])
    """
    return np.ascontiguousarray(_half_rows(_half_rows(grey).T).T)


def _half_rows(values: np.ndarray) -> np.ndarray:
    places, weights = taps(len(values))
    rows = weights[:, 0, None] * values[places[:, 0]]
    for tap in range(1, places.shape[1]):
        rows += weights[:, tap, None] * values[places[:, tap]]
    return rows


@cache
def taps(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Which rows, mirrored at the ends, make each new row, and with what weights."""
    centres = (np.arange(-(-length // 2)) + 0.5) * 2 - 0.5
    places = np.floor(centres)[:, None] - 4 + np.arange(10)
    far = np.abs((centres[:, None] - places) / 2)
    near = (1.5 * far - 2.5) * far * far + 1
    weights = np.where(far <= 1, near, np.where(far <= 2, ((-0.5 * far + 2.5) * far - 4) * far + 2, 0))
    used = np.flatnonzero((weights != 0).any(0))
    weights = (weights / weights.sum(1, keepdims=True))[:, used]
    turned = places[:, used].astype(int) % (2 * length)
    return np.where(turned < length, turned, 2 * length - 1 - turned), weights


def scorer_of(
    column: str,
    settings: Signature,
    function: Callable[..., float | Reason],
    load: Callable[[], Sequence[Any]],
) -> Callable[..., PairScorer]:
    """A metric's `Scorer`, which scores each picture by itself, on the processor, whatever is asked for.

    `function` gives a picture's number, or why there is
    none; `load` gives what the function takes besides.
    """

    def loaded(device: str) -> Loaded:
        parameters = load()
        signature = {**settings, "device": "cpu", "batch": 1}
        return lambda picture: picture, lambda _, picture: {column: function(picture, *parameters)}, signature

    return partial(PairScorer, loaded)
