"""PSNR and RMSE as an `evaluate` module; the pure functions are in measure.py."""

from convergebench.metric_modules._shared import picture_modules
from convergebench.metric_modules._shared.images import Pair, Size, in_batches, pairs, signature_text
from convergebench.metric_modules.psnr.measure import psnr_and_rmse, signature


class Psnr(picture_modules.PictureModule):
    """Peak signal-to-noise ratio in dB, higher is nearer, at most 100; and the root of the mean squared error in grey
    levels, lower is nearer, 0 to 255. All channels of 8-bit RGB count alike."""

    arguments = f"""
Args:
    {picture_modules.PAIRS}
    {picture_modules.SIZE}
    {picture_modules.BATCH}
    device, dtype: accepted as by the other image metrics; sums are always exact, on the processor.
Returns:
    psnr, rmse: means over the examples; psnr_values, rmse_values: one number each; signature: what they depend on.
"""

    def _compute(
        self,
        predictions: list[object],
        references: list[object],
        size: Size = None,
        batch_size: int = 16,
        device: str = "cpu",
        dtype: str = "float64",
    ) -> dict[str, object]:
        def compare(batch: list[Pair]) -> list[picture_modules.Row]:
            return [psnr_and_rmse(reference, prediction) for prediction, reference in batch]

        rows = in_batches(pairs(predictions, references, size), batch_size, compare)
        return picture_modules.means(rows, ("psnr", "rmse")) | {
            "signature": signature_text("psnr", signature(), size=size)
        }
