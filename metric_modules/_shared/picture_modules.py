"""The base classes of the `evaluate` modules that take pictures. Import it as a module, like modules.py."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import datasets

from .images import ImageInputs, in_batches, pixels, reason_text, signature_text
from .modules import Module
from .scoring import AloneScorer

PAIRS = """predictions, references: pictures: Pillow images, arrays, tensors, paths or encoded bytes."""
SIZE = """size: None refuses pairs of different sizes; 'reference' brings the prediction to its reference's size, a
        number brings both to that short side, by one Lanczos resize."""
BATCH = """batch_size: pairs computed together; under `accelerate launch` batches are dealt to the ranks."""
_ALONE = """
Args:
    predictions: pictures: Pillow images, arrays, tensors, paths or encoded bytes, each at its own size.
    batch_size: pictures dealt together; under `accelerate launch` batches are dealt to the ranks.
    device, dtype: accepted as by the other image metrics; this one is always computed on the processor.
Returns:
    {name}: the mean over the pictures; {name}_values: one number each; signature: what they depend on.
"""
_PICTURE = datasets.Image()

Row = Mapping[str, float | None]  # an example's numbers; None for a missing one


class PictureModule(ImageInputs, Module):
    """A module that compares pictures with their references."""

    columns: ClassVar[dict[str, object]] = {"predictions": _PICTURE, "references": _PICTURE}


class AloneModule(ImageInputs, Module):
    """A module that judges each picture on its own; `scorer` is the class that the scoring engine runs."""

    columns: ClassVar[dict[str, object]] = {"predictions": _PICTURE}
    scorer: type[AloneScorer]
    spec: Mapping[str, object]
    _made: AloneScorer | None = None

    @property
    def arguments(self) -> str:  # type: ignore[override]
        return _ALONE.format(name=self.scorer.column)

    def _compute(
        self, predictions: list[object], batch_size: int = 16, device: str = "cpu", dtype: str = "float64"
    ) -> dict[str, object]:
        self._made = self._made or self.scorer("cpu", "float64", {})
        name, score = self._made.column, self._made.score
        pictures = [pixels(picture, f"prediction {number}") for number, picture in enumerate(predictions)]
        pairs = [(picture, picture) for picture in pictures]
        rows = in_batches(pairs, batch_size, lambda batch: [{name: score(picture)} for picture, _ in batch])
        values: list[Row] = []
        for number, row in enumerate(rows):
            if not isinstance(value := row[name], float):
                raise ValueError(f"prediction {number}: {reason_text(self.spec, value)}")
            values.append({name: value})
        return means(values, [name]) | {"signature": signature_text(name, self._made.signature)}


def means(rows: Sequence[Row], fields: Iterable[str]) -> dict[str, object]:
    """The mean of each field over the examples that have it, and as FIELD_values one value for each example.

    >>> means([{"psnr": 30.0}, {"psnr": None}], ["psnr"])
    {'psnr': 30.0, 'psnr_values': [30.0, None]}
    """
    result: dict[str, object] = {}
    for field in fields:
        values = [row[field] for row in rows]
        measured = [value for value in values if value is not None]
        result[field] = sum(measured) / len(measured) if measured else None
        result[f"{field}_values"] = values
    return result
