"""SSIM as an `evaluate` module; the pure functions are in measure.py."""

from typing import Any

import datasets
import evaluate
from convergebench.metric_modules._shared.images import ImageInputs, Size, batches, dealt, pairs, signature_text
from convergebench.metric_modules.ssim.measure import compare, signature, smallest
from convergebench.metric_modules.ssim.measure import reference as known

DESCRIPTION = """Structural similarity, higher is nearer, -1 to 1 and 1 for identical pictures: the mean over all places
and the three channels of 8-bit RGB, as scikit-image computes it."""

CITATION = """@article{wang2004image,
  title = {Image quality assessment: from error visibility to structural similarity},
  author = {Wang, Zhou and Bovik, Alan C. and Sheikh, Hamid R. and Simoncelli, Eero P.},
  journal = {IEEE Transactions on Image Processing}, volume = {13}, number = {4}, pages = {600--612}, year = {2004}
}"""

INPUTS = """
Args:
    predictions, references: pictures: Pillow images, arrays, tensors, paths or encoded bytes.
    window: 'gaussian' (11x11, sigma 1.5) or 'uniform7' (7x7, sample covariance).
    size: None refuses pairs of different sizes; 'reference' brings the prediction to its reference's size, a number
        brings both to that short side, by one Lanczos resize.
    batch_size: pairs computed together; under `accelerate launch` batches are dealt to the ranks.
    device, dtype: taken as the other image metrics take them; whatever they say, it is float32 on the processor, with
        the local grey taken off first, which is as near to scikit-image's float64 as the card says.
Returns:
    ssim: the mean over the examples; ssim_values: one number each; signature: what they depend on.
"""


class Ssim(ImageInputs, evaluate.Metric):
    """How alike two pictures are in local brightness, contrast and structure."""

    def _info(self) -> evaluate.MetricInfo:
        image = datasets.Image()
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=CITATION,
            inputs_description=INPUTS,
            features=datasets.Features({"predictions": image, "references": image}),
        )

    def _compute(
        self,
        predictions: list[Any],
        references: list[Any],
        window: str = "gaussian",
        size: Size = None,
        batch_size: int = 16,
        device: str = "cpu",
        dtype: str = "float32",
    ) -> dict[str, Any]:
        found = batches(pairs(predictions, references, size, smallest(window)), batch_size)
        done = dealt(found, lambda batch: [compare(known(original, window), shown) for shown, original in batch])
        values = [value for batch in done for value in batch]
        return {
            "ssim": sum(values) / len(values),
            "ssim_values": values,
            "signature": signature_text("ssim", signature(window), size=size),
        }
