"""SSIM as pure functions; terms of the reference are computed once."""

from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from .._shared.scoring import Signature

# One row for each window: half its width, and the factor from the plain to the declared variance.
_WINDOWS = {"gaussian": (5, 1.0), "uniform7": (3, 49 / 48)}
# The stabilising constants of Wang et al. (2004): K1 = 0.01 and K2 = 0.03 of the range of 255.
_C1, _C2 = np.float32((0.01 * 255) ** 2), np.float32((0.03 * 255) ** 2)
_TILE = 204  # pixels a side: a tile fits into the processor's cache, and five tiles cover 1024 pixels
_KEPT = 3 * 2048 * 2048  # largest reference, in values, whose means and variances are kept in memory
# Eleven taps with sigma 1.5, as in that paper and in scikit-image with gaussian_weights=True.
_TAPS = cv2.getGaussianKernel(11, 1.5, cv2.CV_32F)
_Place = tuple[slice, slice]
# A block of window positions that are inside the picture, the pixels that their windows cover, and the grey
# of the reference there, which is taken from all values so that their squares keep their digits in float32.
_Tile = tuple[_Place, _Place, float]
# Local means less the tile's grey; variances + C2; means^2 + C1.
_Moments = tuple[np.ndarray, np.ndarray, np.ndarray]
# A window, a reference, its tiles, and what the formula needs
# of each; nothing of large pictures: computed each time.
_Reference = tuple[str, np.ndarray, list[_Tile], list[_Moments]]


def smallest(window: str = "gaussian") -> int:
    if window not in _WINDOWS:
        raise ValueError(f"no window {window!r}; the windows are {', '.join(_WINDOWS)}")
    return 2 * _WINDOWS[window][0] + 1


def _tiles(picture: np.ndarray, window: str) -> Iterator[_Tile]:
    rim = 2 * _WINDOWS[window][0]
    height, width = picture.shape[0] - rim, picture.shape[1] - rim
    for top in range(0, height, _TILE):
        for left in range(0, width, _TILE):
            bottom, right = min(top + _TILE, height), min(left + _TILE, width)
            seen = slice(top, bottom + rim), slice(left, right + rim)
            yield (slice(top, bottom), slice(left, right)), seen, round(float(picture[seen].mean()))


def _local_mean(values: np.ndarray, window: str) -> np.ndarray:
    # Callers drop half a window at the rim, where it is not
    # valid: whole arrays take half the time of their insides.
    if window == "gaussian":
        return cv2.sepFilter2D(values, cv2.CV_32F, _TAPS, _TAPS)
    side = 2 * _WINDOWS[window][0] + 1
    return cv2.blur(values, (side, side))


def reference(picture: np.ndarray, window: str = "gaussian") -> _Reference:
    height, width = picture.shape[:2]
    if min(width, height) < (side := smallest(window)):
        raise ValueError(f"the reference is {width}x{height}; the {window} window needs {side} pixels a side")
    tiles = list(_tiles(picture, window))
    keep = picture.size <= _KEPT
    return window, picture, tiles, [_moments(picture, tile, window) for tile in tiles] if keep else []


def _moments(picture: np.ndarray, tile: _Tile, window: str) -> _Moments:
    _, seen, grey = tile
    values = picture[seen].astype(np.float32)
    values -= np.float32(grey)
    mean = _local_mean(values, window)
    values *= values
    variance = _local_mean(values, window)
    variance -= mean * mean
    variance *= np.float32(_WINDOWS[window][1])
    variance += _C2
    light = mean + np.float32(grey)
    light *= light
    light += _C1
    return mean, variance, light


def _local(prepared: _Reference, prediction: np.ndarray, number: int) -> np.ndarray:
    """SSIM around each pixel of a tile and in each channel, in few passes over memory.

    With d = reference - prediction, SSIM is (1 - mean(d)^2 / L) (1 -
    variance(d) / V), where L and V are the two denominators of the usual form;
    so rounding errors are small for similar pictures, and zero for equal ones.
    """
    window, picture, tiles, local = prepared
    tile, factor = tiles[number], np.float32(_WINDOWS[window][1])
    moments = local[number] if local else _moments(picture, tile, window)
    mean, reference_variance, reference_light = moments
    seen, grey = tile[1], np.float32(tile[2])
    values = prediction[seen].astype(np.float32)
    gap = picture[seen] - values
    gap_grey = np.float32(round(sum(cv2.sumElems(gap)) / gap.size))
    gap -= gap_grey
    values -= grey
    gap_mean = _local_mean(gap, window)
    gap *= gap
    gap_variance = _local_mean(gap, window)
    values *= values
    variance = _local_mean(values, window)
    gap_variance -= gap_mean * gap_mean
    gap_mean += gap_grey
    light = mean - gap_mean
    variance -= light * light
    gap_mean *= gap_mean
    if factor != 1:
        variance *= factor
        gap_variance *= factor
    variance += reference_variance
    light += grey
    light *= light
    light += reference_light
    cv2.divide(gap_variance, variance, dst=gap_variance)
    cv2.divide(gap_mean, light, dst=gap_mean)
    np.subtract(1, gap_variance, out=gap_variance)
    np.subtract(1, gap_mean, out=gap_mean)
    gap_variance *= gap_mean
    half = _WINDOWS[window][0]
    return gap_variance[half:-half, half:-half]


def ssim(prepared: _Reference, prediction: np.ndarray) -> float:
    """SSIM, the mean over all pixels and channels.

    >>> picture = np.arange(12 * 12 * 3, dtype=np.uint8).reshape(12, 12, 3)
    >>> ssim(reference(picture), picture)
    1.0
    """
    total = count = 0.0
    for number in range(len(prepared[2])):
        values = _local(prepared, prediction, number)
        total += sum(cv2.sumElems(values))
        count += values.size
    return total / count


def signature_of(window: str = "gaussian") -> Signature:
    smallest(window)
    return {"version": 1, "window": window}


signature = signature_of("gaussian")


def prepare(picture: np.ndarray) -> _Reference | None:
    return reference(picture) if min(picture.shape[:2]) >= smallest() else None


def compare(
    reference: _Reference | None, pictures: Sequence[np.ndarray], earlier: object
) -> list[dict[str, float | str]]:
    """SSIM in float32 on the processor, whatever the device and the dtype."""
    if reference is None:
        return [{"ssim": "smaller_than_window"} for _ in pictures]
    return [{"ssim": ssim(reference, picture)} for picture in pictures]
