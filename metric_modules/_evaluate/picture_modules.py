"""The base classes of the `evaluate` modules that take pictures. Import it as a module, like modules.py."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import datasets

from .._shared.networks import available_device
from .._shared.scoring import PairScorer, Signature, reason_text, signature_text
from .images import Pair, exact, examples, in_batches, pairs
from .modules import Module

Row = Mapping[str, float | None]  # an example's numbers; None for a missing one
Compare = Callable[[list[Pair]], Sequence[Row]]  # the rows of a batch of predictions with their references
_PICTURE = datasets.Image()


class PictureModule(Module):
    """Compares pictures with references, which it reads before `evaluate` encodes them."""

    columns: ClassVar[dict[str, object]] = {"predictions": _PICTURE, "references": _PICTURE}
    spec: ClassVar[Mapping[str, Any]]
    fields: ClassVar[tuple[str, ...]]  # of its rows
    any_sizes: ClassVar[bool] = False  # whether a prediction's size may differ from its reference's
    example: ClassVar[dict[str, object]] = {"size": "reference"}
    method: Callable[..., tuple[Compare, Signature]]  # what compares a batch, and what its numbers depend on

    def _compute(self, *args: Any, **given: Any) -> dict[str, object]:
        predictions, references, size = given.pop("predictions"), given.pop("references"), given.pop("size", None)
        compared, batch_size = pairs(predictions, references, size, self.any_sizes), given.pop("batch_size", 8)
        compare, signature = self.method(**given)
        rows = in_batches(compared, batch_size, compare)
        return self._summary(rows) | {"signature": signature_text(self.spec["name"], signature, size=size)}

    def _summary(self, rows: Sequence[Row]) -> dict[str, object]:
        return means(rows, self.fields)

    # evaluate adds a text of its own to the docstrings of the next three methods.
    def add_batch(self, *, predictions: object = None, references: object = None, **columns: object) -> None:
        """Add a batch of examples; pictures are stored without loss."""
        given = {"predictions": predictions, "references": references, **columns}
        given = {name: values for name, values in given.items() if name in self.features or values is not None}
        counts = {}
        for name in self.features:
            values = given[name] = examples(given[name], name)
            counts[name] = len(values)
            if isinstance(self.features[name], datasets.Image):
                given[name] = [exact(value, f"{name[:-1]} {len(self) + n}") for n, value in enumerate(values)]
        if len(set(counts.values())) > 1:
            words = " and ".join(f"{count} {name}" for name, count in counts.items())
            raise ValueError(f"{words} were given; give as many of each")
        if 0 in counts.values():
            raise ValueError(f"{' and '.join(counts)} are empty; give at least one example")
        super().add_batch(**given)

    def add(self, *, prediction: object = None, reference: object = None, **columns: object) -> None:
        """Add one example; pictures are stored without loss."""
        self.add_batch(predictions=[prediction], references=[reference], **{k: [v] for k, v in columns.items()})

    def compute(
        self, *, predictions: object = None, references: object = None, **options: object
    ) -> dict[str, object]:
        """Compute over these examples, or over those added before."""
        if predictions is None and references is None and len(self) == 0:
            raise ValueError("there are no examples; give predictions and references, or add them first")
        return super().compute(predictions=predictions, references=references, **options)


class ScoredModule(PictureModule):
    """A module that computes what the scoring engine computes, with the engine's `scorer`."""

    scorer: Callable[..., PairScorer]

    def method(self, device: str = "cpu", dtype: str = "float32") -> tuple[Compare, Signature]:
        scorer = self.scorer(available_device(device), dtype, {})

        def compare(batch: list[Pair]) -> list[dict[str, Any]]:
            return [scorer.compare(scorer.prepare(original), [shown], [])[0] for shown, original in batch]

        return compare, scorer.signature

    def _summary(self, rows: Sequence[Row]) -> dict[str, object]:
        fields = [column["name"] for column in self.spec["columns"] if "type" not in column]
        return means_and_reasons(self.spec, rows, fields)


def means_and_reasons(
    spec: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], fields: Iterable[str]
) -> dict[str, object]:
    """The means of rows, and the reasons in place of missing numbers as sentences."""
    reasons = [{name: value for name, value in row.items() if isinstance(value, str | tuple)} for row in rows]
    numbers = [{**row, **dict.fromkeys(missing)} for row, missing in zip(rows, reasons, strict=True)]
    words = [{name: reason_text(spec, reason) for name, reason in missing.items()} for missing in reasons]
    return means(numbers, fields) | {"reasons": words}


def means(rows: Sequence[Row], fields: Iterable[str]) -> dict[str, object]:
    """The mean of each field over the examples that have it, and FIELD_values.

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
