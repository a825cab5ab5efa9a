"""Shift and scale between two pictures, and PSNR and SSIM after undoing them, as an `evaluate` module.

The pure functions are in align.py and measure.py.
"""

from typing import Any

import datasets
import evaluate
from convergebench.metric_modules._shared.images import ImageInputs, Size, dealt, pairs, reason_text, signature_text
from convergebench.metric_modules.psnr.measure import signature as psnr_signature
from convergebench.metric_modules.registration.align import anchors
from convergebench.metric_modules.registration.measure import FIELDS, compare, signature
from convergebench.metric_modules.registration.spec import SPEC
from convergebench.metric_modules.ssim.measure import signature as ssim_signature

DESCRIPTION = """The shift (in pixels, to the right and down) and the scale that take the reference to the prediction,
estimated from blocks that are looked for one by one, with the median block's residual; and PSNR and SSIM after undoing
them. Null with a reason where the blocks disagree: that is not a shift of zero."""

INPUTS = """
Args:
    predictions, references: pictures: Pillow images, arrays, tensors, paths or encoded bytes.
    size: None refuses pairs of different sizes; 'reference' brings the prediction to its reference's size, a number
        brings both to that short side, by one Lanczos resize.
Returns:
    shift_x, shift_y, scale, residual, psnr, ssim: means over the examples that have them, or None; the same names
        with _values: one number or None each; reasons: one dictionary each; signature: what the numbers depend on.
"""


class Registration(ImageInputs, evaluate.Metric):
    """How far a picture has moved, and how near it is to its reference when moved back."""

    def _info(self) -> evaluate.MetricInfo:
        image = datasets.Image()
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="",
            inputs_description=INPUTS,
            features=datasets.Features({"predictions": image, "references": image}),
        )

    def _compute(self, predictions: list[Any], references: list[Any], size: Size = None) -> dict[str, Any]:
        found = pairs(predictions, references, size)
        registered = dealt(found, lambda pair: compare(anchors(pair[1]), pair[1], pair[0]))
        result: dict[str, Any] = {}
        for field in FIELDS:
            values = [one.values[field] for one in registered]
            known = [value for value in values if value is not None]
            result[field] = sum(known) / len(known) if known else None
            result[f"{field}_values"] = values
        result["reasons"] = [
            {name: reason_text(SPEC, reason) for name, reason in one.reasons.items()} for one in registered
        ]
        parts = [signature_text("psnr", psnr_signature()), signature_text("ssim", ssim_signature())]
        result["signature"] = "; ".join([signature_text("registration", signature(), size=size), *parts])
        return result
