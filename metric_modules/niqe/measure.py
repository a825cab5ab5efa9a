"""NIQE as pure functions: how far a picture's patches are from those of undamaged photographs."""

import io
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .._shared.nss import contrast_normalised, half_size, luma, patch_features
from .._shared.published import PublishedFile
from .._shared.scoring import AloneScorer, Reason, Signature

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
# Mittal, Soundararajan and Bovik, Making a completely blind image quality analyzer (2013), use this side.
_BLOCK = 96  # pixels of a patch's side


class Pristine(NamedTuple):
    """The features of patches of undamaged photographs: their mean and covariance."""

    mean: np.ndarray
    covariance: np.ndarray


def pristine() -> Pristine:
    """The features as the authors published them."""
    with np.load(io.BytesIO(PARAMETERS.load())) as file:
        return Pristine(file["mu_pris_param"].ravel(), file["cov_pris_param"])


def niqe(picture: np.ndarray, pristine: Pristine) -> float | Reason:
    """The distance of an RGB picture of bytes, or why there is none."""
    height, width = (side // _BLOCK for side in picture.shape[:2])
    if height * width < 2:
        return "too_small_for_patches", f"{2 * _BLOCK}x{_BLOCK}"
    grey = luma(picture)[: height * _BLOCK, : width * _BLOCK]
    features = np.concatenate(
        [
            patch_features(contrast_normalised(grey), _BLOCK),
            patch_features(contrast_normalised(half_size(grey)), _BLOCK // 2),
        ],
        axis=1,
    )
    whole = features[~np.isnan(features).any(1)]
    if len(whole) < 2:
        return "too_flat"
    spread = np.linalg.pinv((pristine.covariance + np.cov(whole, rowvar=False)) / 2)
    gap = pristine.mean - np.nanmean(features, axis=0)
    return float(np.sqrt(gap @ spread @ gap))


def signature() -> Signature:
    """What a number depends on besides the picture."""
    digest = PARAMETERS.sha256[:12]
    return {"version": 1, "block": _BLOCK, "parameters": digest, "device": "cpu", "batch": 1}


class Scorer(AloneScorer):
    """NIQE as the scoring engine runs it: each picture by itself, on the processor, in float64."""

    column = "niqe"

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, object]):
        self.pristine = pristine()
        self.signature = signature()

    def score(self, picture: np.ndarray) -> float | Reason:
        """The number of an RGB picture of bytes, or why there is none."""
        return niqe(picture, self.pristine)
