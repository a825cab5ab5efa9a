from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules._evaluate.images import Pair
from convergebench.metric_modules.ssim import measure
from convergebench.metric_modules.ssim.spec import SPEC


class Ssim(picture_modules.PictureModule):
    """Structural similarity from -1 to 1, higher is closer, 1 for identical pictures: the mean over all places and the
    three channels of 8-bit RGB, as scikit-image computes it."""

    spec, fields = SPEC, ("ssim",)

    def method(
        self, window: str = "gaussian", device: str = "cpu", dtype: str = "float32"
    ) -> tuple[picture_modules.Compare, dict]:
        def compare(batch: list[Pair]) -> list[picture_modules.Row]:
            return [
                {"ssim": measure.compare(measure.reference(original, window), shown)} for shown, original in batch
            ]

        return compare, measure.signature(window)
