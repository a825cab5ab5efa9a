"""PSNR and RMSE as pure functions of two uint8 arrays of one shape."""

import math
from collections.abc import Sequence

import cv2
import numpy as np

from .._shared.scoring import Signature

CEILING = 100.0  # dB; also what identical pictures get
SIGNATURE: Signature = {"version": 1, "ceiling": CEILING}


def _mean_squared_error(reference: np.ndarray, prediction: np.ndarray) -> float:
    # The sum is an integer far below 2**53; OpenCV's last bit is not always its own.
    return round(cv2.norm(reference, prediction, cv2.NORM_L2SQR)) / reference.size


def psnr_and_rmse(reference: np.ndarray, prediction: np.ndarray) -> dict[str, float]:
    """PSNR in dB, at most `CEILING`, and RMSE in grey levels.

    >>> psnr_and_rmse(np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2, 3), np.uint8))
    {'psnr': 100.0, 'rmse': 0.0}
    """
    error = _mean_squared_error(reference, prediction)
    decibels = 10 * math.log10(255**2 / error) if error else CEILING
    return {"psnr": min(decibels, CEILING), "rmse": math.sqrt(error)}


signature = SIGNATURE | {"previous": "rmse"}


def compare(reference: np.ndarray, pictures: Sequence[np.ndarray], earlier: object) -> list[dict[str, float]]:
    return [psnr_and_rmse(reference, picture) for picture in pictures]


previous_columns = ("rmse_previous",)


def compare_previous(before: np.ndarray, picture: np.ndarray) -> dict[str, float]:
    return {"rmse_previous": math.sqrt(_mean_squared_error(before, picture))}
