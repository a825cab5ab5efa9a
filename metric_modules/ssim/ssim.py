"""SSIM as an `evaluate` module; the pure functions are in measure.py."""

from convergebench.metric_modules._shared import picture_modules
from convergebench.metric_modules._shared.images import Pair, Size, in_batches, pairs, signature_text
from convergebench.metric_modules.ssim import measure


class Ssim(picture_modules.PictureModule):
    """Structural similarity, higher is nearer, -1 to 1 and 1 for identical pictures: the mean over all places and the
    three channels of 8-bit RGB, as scikit-image computes it."""

    cited = """@article{wang2004image,
  title = {Image quality assessment: from error visibility to structural similarity},
  author = {Wang, Zhou and Bovik, Alan C. and Sheikh, Hamid R. and Simoncelli, Eero P.},
  journal = {IEEE Transactions on Image Processing}, volume = {13}, number = {4}, pages = {600--612}, year = {2004}
}"""
    arguments = f"""
Args:
    {picture_modules.PAIRS}
    window: 'gaussian' (11x11, sigma 1.5) or 'uniform7' (7x7, sample covariance).
    {picture_modules.SIZE}
    {picture_modules.BATCH}
    device, dtype: accepted as by the other image metrics; it is always float32 on the processor, with the local grey
        taken off first, which is as near to scikit-image's float64 as the card says.
Returns:
    ssim: the mean over the examples; ssim_values: one number each; signature: what they depend on.
"""

    def _compute(
        self,
        predictions: list[object],
        references: list[object],
        window: str = "gaussian",
        size: Size = None,
        batch_size: int = 16,
        device: str = "cpu",
        dtype: str = "float32",
    ) -> dict[str, object]:
        def compare(batch: list[Pair]) -> list[picture_modules.Row]:
            return [{"ssim": measure.compare(measure.reference(original, window), shown)} for shown, original in batch]

        rows = in_batches(pairs(predictions, references, size, measure.smallest(window)), batch_size, compare)
        return picture_modules.means(rows, ["ssim"]) | {
            "signature": signature_text("ssim", measure.signature(window), size=size)
        }
