"""Peak signal-to-noise ratio in dB, higher is nearer, at most 100; and the root of the mean squared error in grey
levels, lower is nearer, 0 to 255. All channels of 8-bit RGB count alike."""

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules.psnr.measure import SIGNATURE, psnr_and_rmse
from convergebench.metric_modules.psnr.spec import SPEC


def _method(device: str = "cpu", dtype: str = "float64") -> tuple[picture_modules.Compare, dict]:
    return lambda batch: [psnr_and_rmse(original, shown) for shown, original in batch], SIGNATURE


Psnr = picture_modules.PictureModule.of(
    __name__, __doc__, picture_modules.paired(SPEC, _method, fields=("psnr", "rmse"))
)
