"""IL-NIQE as an `evaluate` module; the pure functions are in measure.py."""

import functools
from typing import Any

import datasets
import evaluate

from .images import ImageInputs, batches, dealt, pixels, reason_text, signature_text
from .measure import ilniqe, signature
from .nss import luma
from .packages import Unavailable
from .pictures import resize_to
from .registries import python_indexes
from .spec import SPEC
from .template import Template, load

__all__ = [
    "IlNiqe",
    "Unavailable",
    "load",
    "luma",
    "python_indexes",
    "resize_to",
]  # evaluate brings what this file imports

DESCRIPTION = """How far a picture is from undamaged photographs, by the statistics of its contrast, edges and colours;
lower is better, 0 is as near as can be, without an upper end. There is no reference: a picture is judged on its own."""

INPUTS = """
Args:
    predictions: pictures: Pillow images, arrays, tensors, paths or encoded bytes, each at its own size.
    batch_size: pictures dealt together; under `accelerate launch` batches are dealt to the ranks.
    device, dtype: taken as the other image metrics take them; whatever they say, it is computed on the processor.
Returns:
    ilniqe: the mean over the pictures; ilniqe_values: one number each; signature: what they depend on.
"""


@functools.lru_cache(maxsize=1)
def ready() -> Template:
    """The template from the user's cache."""
    return load()


class IlNiqe(ImageInputs, evaluate.Metric):
    """How far a picture is from undamaged photographs, by statistics of contrast, edges and colours."""

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
        known = ready()
        read = [pixels(picture, f"prediction {number}") for number, picture in enumerate(predictions)]
        done = dealt(
            batches([(one, one) for one in read], batch_size),
            lambda batch: [ilniqe(picture, known) for picture, _ in batch],
        )
        values = [value for batch in done for value in batch]
        for number, value in enumerate(values):
            if not isinstance(value, float):
                raise ValueError(f"prediction {number}: {reason_text(SPEC, value)}")
        return {
            "ilniqe": sum(values) / len(values),
            "ilniqe_values": values,
            "signature": signature_text("ilniqe", signature(known)),
        }
