"""PIQE as an `evaluate` module; the pure functions are in measure.py."""

from typing import Any

import datasets
import evaluate

from .images import ImageInputs, batches, dealt, pixels, signature_text
from .measure import piqe, signature
from .nss import luma
from .pictures import resize_to

__all__ = ["Piqe", "luma", "resize_to"]  # evaluate brings what this file imports

DESCRIPTION = """The share of a picture's busy blocks that are visibly impaired or noisy; lower is better, 0 to 100.
There is no reference: a picture is judged on its own."""

INPUTS = """
Args:
    predictions: pictures: Pillow images, arrays, tensors, paths or encoded bytes, each at its own size.
    batch_size: pictures dealt together; under `accelerate launch` batches are dealt to the ranks.
    device, dtype: taken as the other image metrics take them; whatever they say, it is computed on the processor.
Returns:
    piqe: the mean over the pictures; piqe_values: one number each; signature: what they depend on.
"""


class Piqe(ImageInputs, evaluate.Metric):
    """The share of a picture's busy blocks that are visibly impaired or noisy."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="",
            inputs_description=INPUTS,
            features=datasets.Features({"predictions": datasets.Image()}),
        )

    def _compute(
        self, predictions: list[Any], batch_size: int = 16, device: str = "cpu", dtype: str = "float64"
    ) -> dict[str, Any]:
        read = [pixels(picture, f"prediction {number}") for number, picture in enumerate(predictions)]
        done = dealt(
            batches([(one, one) for one in read], batch_size), lambda batch: [piqe(picture) for picture, _ in batch]
        )
        values = [value for batch in done for value in batch]
        return {
            "piqe": sum(values) / len(values),
            "piqe_values": values,
            "signature": signature_text("piqe", signature()),
        }
