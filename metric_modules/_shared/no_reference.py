"""What `evaluate` modules have in common that judge a picture on its own: their inputs, their mean, their refusals."""

import functools
import inspect
from typing import Any

import datasets
import evaluate

from .images import ImageInputs, batches, dealt, pixels, reason_text, signature_text

INPUTS = """
Args:
    predictions: pictures: Pillow images, arrays, tensors, paths or encoded bytes, each at its own size.
    batch_size: pictures dealt together; under `accelerate launch` batches are dealt to the ranks.
    device, dtype: taken as the other image metrics take them; whatever they say, it is computed on the processor.
Returns:
    {name}: the mean over the pictures; {name}_values: one number each; signature: what they depend on.
"""


class NoReference(ImageInputs):
    """Stands before `evaluate.Metric` among a module's bases, as `ImageInputs` does."""

    spec: dict[str, Any]
    about: str

    @staticmethod
    def load_parameters() -> Any:
        """What scores and signature depend on, read once; None where there is nothing to read."""
        return None

    @staticmethod
    def score(picture: Any, parameters: Any) -> Any:
        """The picture's number, or the reason why it has none."""
        raise NotImplementedError

    @staticmethod
    def signature(parameters: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=inspect.cleandoc(self.about),
            citation="",
            inputs_description=INPUTS.format(name=self.spec["name"]),
            features=datasets.Features({"predictions": datasets.Image()}),
        )

    @functools.cached_property
    def parameters(self) -> Any:
        return self.load_parameters()

    def _compute(
        self, predictions: list[Any], batch_size: int = 16, device: str = "cpu", dtype: str = "float64"
    ) -> dict[str, Any]:
        name, parameters = self.spec["name"], self.parameters
        read = [pixels(picture, f"prediction {number}") for number, picture in enumerate(predictions)]
        done = dealt(
            batches([(one, one) for one in read], batch_size),
            lambda batch: [self.score(picture, parameters) for picture, _ in batch],
        )
        values = [value for batch in done for value in batch]
        for number, value in enumerate(values):
            if not isinstance(value, float):
                raise ValueError(f"prediction {number}: {reason_text(self.spec, value)}")
        return {
            name: sum(values) / len(values),
            f"{name}_values": values,
            "signature": signature_text(name, self.signature(parameters)),
        }
