"""NIQE as pure functions: how far a picture's patches are from those of undamaged photographs."""

import io

import numpy as np

from .._shared.published import PublishedFile
from .._shared.scoring import Reason, Signature
from ..brisque.nss import (
    NEIGHBOURS,
    asymmetric_fit,
    contrast_normalised,
    half_size,
    log_gamma,
    luma,
    scorer_of,
)

PARAMETERS = PublishedFile(
    metric="niqe",
    requirement="basicsr==1.4.2",
    ending=".tar.gz",
    inside="basicsr-1.4.2/basicsr/metrics/niqe_pris_params.npz",
    name="niqe.npz",
    sha256="2a7c182a68c9e7f1b2e2e5ec723279d6f65d912b6fcaf37eb2bf03d7367c4296",
    archive_sha256="b89b595a87ef964cda9913b4d99380ddb6554c965577c0c10cb7b78e31301e87",
)
missing_weights = PARAMETERS.missing
fetch_weights = PARAMETERS.fetch
# Mittal, Soundararajan and Bovik, Making a completely blind image quality analyzer (2013), use this side.
_BLOCK = 96  # pixels of a patch's side


def _pristine() -> tuple[np.ndarray, np.ndarray]:
    with np.load(io.BytesIO(PARAMETERS.load())) as file:
        return file["mu_pris_param"].ravel(), file["cov_pris_param"]


def niqe(picture: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> float | Reason:
    height, width = (side // _BLOCK for side in picture.shape[:2])
    if height * width < 2:
        return "too_small_for_patches", f"{2 * _BLOCK}x{_BLOCK}"
    grey = luma(picture)[: height * _BLOCK, : width * _BLOCK]
    scales = (grey, _BLOCK), (half_size(grey), _BLOCK // 2)
    features = np.concatenate([_patch_features(contrast_normalised(part), side) for part, side in scales], axis=1)
    whole = features[~np.isnan(features).any(1)]
    if len(whole) < 2:
        return "too_flat"
    precision = np.linalg.pinv((covariance + np.cov(whole, rowvar=False)) / 2)
    gap = mean - np.nanmean(features, axis=0)
    return float(np.sqrt(gap @ precision @ gap))


def _scale(deviation: np.ndarray, shape: np.ndarray) -> np.ndarray:
    return deviation * np.exp((log_gamma(1 / shape) - log_gamma(3 / shape)) / 2)


def _patch_features(normalised: np.ndarray, side: int) -> np.ndarray:
    """Patches x 18: shapes and scales of each whole patch, and of the products of its neighbouring values."""
    rows, columns = (length // side for length in normalised.shape)
    cropped = normalised[: rows * side, : columns * side]
    patches = cropped.reshape(rows, side, columns, side).swapaxes(1, 2).reshape(-1, side, side)
    shape, left, right = asymmetric_fit(patches.reshape(len(patches), -1))
    features = [shape, (_scale(left, shape) + _scale(right, shape)) / 2]
    for shift in (*NEIGHBOURS, (1, -1)):
        products = (patches * np.roll(patches, shift, (1, 2))).reshape(len(patches), -1)
        shape, left, right = asymmetric_fit(products)
        left, right = _scale(left, shape), _scale(right, shape)
        features += [shape, (right - left) * np.exp(log_gamma(2 / shape) - log_gamma(1 / shape)), left, right]
    return np.stack(features, axis=1)


_SETTINGS: Signature = {"version": 1, "block": _BLOCK, "parameters": PARAMETERS.sha256[:12]}
Scorer = scorer_of("niqe", _SETTINGS, niqe, _pristine)
