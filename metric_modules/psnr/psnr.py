from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules.psnr.measure import SIGNATURE, psnr_and_rmse
from convergebench.metric_modules.psnr.spec import SPEC


class Psnr(picture_modules.PictureModule):
    """Peak signal-to-noise ratio in dB, higher is nearer, at most 100; and the root of the mean squared error in grey
    levels, lower is nearer, 0 to 255. All channels of 8-bit RGB count alike."""

    spec, fields = SPEC, ("psnr", "rmse")

    def method(self, device: str = "cpu", dtype: str = "float64") -> tuple[picture_modules.Compare, dict]:
        return lambda batch: [psnr_and_rmse(original, shown) for shown, original in batch], SIGNATURE
