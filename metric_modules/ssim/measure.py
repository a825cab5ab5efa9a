"""SSIM as pure functions of two uint8 arrays; what depends on the reference alone is computed once."""

from dataclasses import dataclass

import cv2
import numpy as np

# One row for each window: half its width, and the factor from the plain to the declared (co)variance.
WINDOWS = {"gaussian": (5, 1.0), "uniform7": (3, 49 / 48)}
C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


@dataclass(frozen=True)
class Reference:
    """A reference with its local means and variances, for any number of predictions."""

    window: str
    picture: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


def smallest(window: str = "gaussian") -> int:
    """The shortest side that a window fits into."""
    if window not in WINDOWS:
        raise ValueError(f"no window {window!r}; the windows are {', '.join(WINDOWS)}")
    return 2 * WINDOWS[window][0] + 1


def _local_mean(picture: np.ndarray, window: str) -> np.ndarray:
    """The weighted mean around each pixel whose window lies wholly inside the picture."""
    half = WINDOWS[window][0]
    if window == "gaussian":
        taps = cv2.getGaussianKernel(2 * half + 1, 1.5, cv2.CV_64F)
        blurred = cv2.sepFilter2D(picture, cv2.CV_64F, taps, taps)
    else:
        blurred = cv2.blur(picture, (2 * half + 1, 2 * half + 1))
    return blurred[half:-half, half:-half]


def reference(picture: np.ndarray, window: str = "gaussian") -> Reference:
    """The reference's side of the formula."""
    if min(picture.shape[:2]) < smallest(window):
        height, width = picture.shape[:2]
        raise ValueError(
            f"the reference is {width}x{height}; the {window} window needs {smallest(window)} pixels a side"
        )
    values = picture.astype(np.float64)
    mean = _local_mean(values, window)
    variance = WINDOWS[window][1] * (_local_mean(values * values, window) - mean * mean)
    return Reference(window, values, mean, variance)


def local(known: Reference, prediction: np.ndarray) -> np.ndarray:
    """SSIM around each pixel and in each channel."""
    if known.picture.shape != prediction.shape:
        raise ValueError(
            f"the prediction's shape is {prediction.shape} and the reference's {known.picture.shape}; give one shape"
        )
    factor = WINDOWS[known.window][1]
    values = prediction.astype(np.float64)
    mean = _local_mean(values, known.window)
    variance = factor * (_local_mean(values * values, known.window) - mean * mean)
    covariance = factor * (_local_mean(known.picture * values, known.window) - known.mean * mean)
    numerator = (2 * known.mean * mean + C1) * (2 * covariance + C2)
    return numerator / ((known.mean**2 + mean**2 + C1) * (known.variance + variance + C2))


def compare(known: Reference, prediction: np.ndarray) -> float:
    """SSIM, the mean over all pixels and channels.

    >>> picture = np.arange(12 * 12 * 3, dtype=np.uint8).reshape(12, 12, 3)
    >>> compare(reference(picture), picture)
    1.0
    """
    return float(local(known, prediction).mean())


def signature(window: str = "gaussian") -> str:
    """What a number depends on besides the two arrays."""
    smallest(window)
    return f"ssim/1 window={window}"
