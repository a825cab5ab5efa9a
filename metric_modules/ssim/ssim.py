"""Structural similarity from -1 to 1, higher is closer, 1 for identical pictures: the mean over all places and the
three channels of 8-bit RGB, as scikit-image computes it."""

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules._evaluate.images import Pair
from convergebench.metric_modules.ssim import measure
from convergebench.metric_modules.ssim.spec import SPEC


def _method(
    window: str = "gaussian", device: str = "cpu", dtype: str = "float32"
) -> tuple[picture_modules.Compare, dict]:
    def compare(batch: list[Pair]) -> list[picture_modules.Row]:
        return [{"ssim": measure.ssim(measure.reference(original, window), shown)} for shown, original in batch]

    return compare, measure.signature_of(window)


Ssim = picture_modules.PictureModule.of(
    __name__, __doc__, picture_modules.paired(SPEC, _method, fields=("ssim",))
)
