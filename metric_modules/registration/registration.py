"""The shift (in pixels, to the right and down) and the scale that take the reference to the prediction, estimated
from blocks that are looked for one by one, with the median block's residual; and PSNR and SSIM after undoing
them. Null with a reason where the blocks disagree: that is not a shift of zero."""

from collections.abc import Sequence

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules._evaluate.images import Size, pairs
from convergebench.metric_modules._shared.scoring import signature_text
from convergebench.metric_modules.psnr.measure import SIGNATURE as PSNR_SIGNATURE
from convergebench.metric_modules.registration.align import anchors
from convergebench.metric_modules.registration.measure import FIELDS, register, signature
from convergebench.metric_modules.registration.spec import SPEC
from convergebench.metric_modules.ssim.measure import signature as ssim_signature


def _registration(
    predictions: Sequence[object], references: Sequence[object], size: Size = None
) -> dict[str, object]:
    compared = pairs(predictions, references, size)
    registered = [register(anchors(reference), reference, shown) for shown, reference in compared]
    parts = [
        signature_text("registration", signature, size=size),
        signature_text("psnr", PSNR_SIGNATURE),
        signature_text("ssim", ssim_signature),
    ]
    return picture_modules.means_and_reasons(SPEC, registered, FIELDS) | {"signature": "; ".join(parts)}


Registration = picture_modules.PictureModule.of(__name__, __doc__, _registration)
