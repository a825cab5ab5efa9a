"""PSNR and RMSE as an `evaluate` module; the pure functions are in measure.py."""

from typing import Any

import datasets
import evaluate
from convergebench.metric_modules._shared.images import ImageInputs, Size, batches, dealt, pairs, signature_text
from convergebench.metric_modules.psnr.measure import psnr_and_rmse, signature

DESCRIPTION = """Peak signal-to-noise ratio in dB, higher is nearer, at most 100; and the root of the mean squared error
in grey levels, lower is nearer, 0 to 255. All channels of 8-bit RGB count alike."""

INPUTS = """
Args:
    predictions, references: pictures: Pillow images, arrays, tensors, paths or encoded bytes.
    size: None refuses pairs of different sizes; 'reference' brings the prediction to its reference's size, a number
        brings both to that short side, by one Lanczos resize.
    batch_size: pairs computed together; under `accelerate launch` batches are dealt to the ranks.
    device, dtype: taken as the other image metrics take them; whatever they say, sums are exact, on the processor.
Returns:
    psnr, rmse: means over the examples; psnr_values, rmse_values: one number each; signature: what they depend on.
"""


class Psnr(ImageInputs, evaluate.Metric):
    """How far two pictures' pixels are apart."""

    def _info(self) -> evaluate.MetricInfo:
        image = datasets.Image()
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="",
            inputs_description=INPUTS,
            features=datasets.Features({"predictions": image, "references": image}),
        )

    def _compute(
        self,
        predictions: list[Any],
        references: list[Any],
        size: Size = None,
        batch_size: int = 16,
        device: str = "cpu",
        dtype: str = "float64",
    ) -> dict[str, Any]:
        found = batches(pairs(predictions, references, size), batch_size)
        done = dealt(found, lambda batch: [psnr_and_rmse(reference, prediction) for prediction, reference in batch])
        rows = [row for batch in done for row in batch]
        psnr, rmse = [row["psnr"] for row in rows], [row["rmse"] for row in rows]
        return {
            "psnr": sum(psnr) / len(psnr),
            "rmse": sum(rmse) / len(rmse),
            "psnr_values": psnr,
            "rmse_values": rmse,
            "signature": signature_text("psnr", signature(), size=size),
        }
