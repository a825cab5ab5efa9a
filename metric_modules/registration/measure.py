"""PSNR and SSIM after shift and scale are undone; a missing value is null with its reason."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, isfinite

import cv2
import numpy as np

from .._shared.scoring import Reason, Signature
from ..psnr.measure import psnr_and_rmse
from ..ssim.measure import reference as ssim_reference
from ..ssim.measure import smallest, ssim
from .align import FEWEST, LEVELS, RESIDUAL, STILL, Anchors, Placement, anchors, locate

_REGISTERED = ("psnr_registered", "ssim_registered")
FIELDS = ("shift_x", "shift_y", "scale", "registration_residual", "framing_loss", *_REGISTERED)
_LEVELS = "/".join(map(str, LEVELS))
signature: Signature = {"version": 2, "levels": _LEVELS, "residual": RESIDUAL, "still": STILL, "blocks": FEWEST}


def undone(prediction: np.ndarray, placement: Placement) -> tuple[np.ndarray, tuple[slice, slice]]:
    """The prediction laid back on its reference, and the rows and columns in which both show something."""
    height, width = prediction.shape[:2]
    if placement.still:
        return prediction, (slice(0, height), slice(0, width))
    limits, matrix = [], np.zeros((2, 3))
    for axis, (length, shift) in enumerate(((width, placement.x), (height, placement.y))):
        start = (length - 1) / 2 * (1 - placement.scale) + shift
        matrix[axis, axis], matrix[axis, 2] = placement.scale, start
        first, last = -start / placement.scale, (length - 1 - start) / placement.scale
        limits.append(slice(max(0, ceil(first - 1e-6)), min(length - 1, floor(last + 1e-6)) + 1))
    laid = cv2.warpAffine(prediction, matrix, (width, height), flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP)
    return laid, (limits[1], limits[0])


def _framing_loss(shape: tuple[int, ...], placement: Placement) -> float:
    """The share of both frames together that only one of them shows: 0 if the picture has not moved.

    >>> round(_framing_loss((100, 200), Placement(20.0, 0.0, 1.0, 0.0, 20.0, 99)), 3)
    0.182
    """
    if placement.still:
        return 0.0
    height, width = shape
    common = 1.0
    for length, shift in ((width, placement.x), (height, placement.y)):
        half, grown = length / 2, length / 2 * placement.scale
        common *= max(0.0, min(half, shift + grown) - max(-half, shift - grown))
    return 1 - common / (width * height * (1 + placement.scale**2) - common)


def _psnr_and_ssim(reference: np.ndarray, prediction: np.ndarray) -> tuple[float, float | Reason]:
    fits = min(reference.shape[:2]) >= smallest()
    similarity = ssim(ssim_reference(reference), prediction) if fits else "smaller_than_window"
    return psnr_and_rmse(reference, prediction)["psnr"], similarity


def register(
    blocks: Anchors, reference: np.ndarray, prediction: np.ndarray, raw: Sequence[float | Reason] = ()
) -> dict[str, float | Reason]:
    """Where a prediction is on its reference, and how alike they are there; or why that cannot be said.

    `raw` holds PSNR and SSIM of the unregistered pair, if known; pairs that have not moved keep them.
    """
    placement = locate(blocks, prediction)
    residual = {"registration_residual": placement.residual} if isfinite(placement.residual) else {}
    if not placement.accepted:
        reason: Reason = "blocks_lost"
        if placement.blocks < FEWEST:
            reason = "too_few_blocks", f"{placement.blocks}, where {FEWEST} are needed"
        elif residual:
            reason = "blocks_disagree", f"{placement.residual:.1f} px off; less than {RESIDUAL:g} px is accepted"
        return dict.fromkeys(FIELDS, reason) | residual
    values = {"shift_x": placement.x, "shift_y": placement.y, "scale": placement.scale, **residual}
    values["framing_loss"] = _framing_loss(reference.shape[:2], placement)
    if not (len(raw) == 2 and placement.still):
        laid, (rows, columns) = undone(prediction, placement)
        raw = _psnr_and_ssim(reference[rows, columns], laid[rows, columns])
    return {**values, **dict(zip(_REGISTERED, raw, strict=True))}


def prepare(picture: np.ndarray) -> tuple[Anchors, np.ndarray]:
    return anchors(picture), picture


def compare(
    reference: tuple[Anchors, np.ndarray], pictures: Sequence[np.ndarray], earlier: Sequence[Mapping[str, object]]
) -> list[dict[str, float | Reason]]:
    rows = []
    for picture, values in zip(pictures, earlier, strict=True):
        raw = [values.get(name) for name in ("psnr", "ssim")]
        rows.append(register(*reference, picture, [value for value in raw if isinstance(value, float)]))
    return rows
