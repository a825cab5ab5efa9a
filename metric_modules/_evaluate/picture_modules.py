"""The class of the `evaluate` modules that take pictures. Import it as a module, like modules.py."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import datasets

from .._shared.networks import available_device
from .._shared.scoring import PairScorer, Signature, reason_text, signature_text
from .images import Pair, Size, exact, examples, in_batches, pairs
from .modules import Module

Row = Mapping[str, float | None]  # an example's numbers; None for a missing one
Compare = Callable[[list[Pair]], Sequence[Row]]  # the rows of a batch of predictions with their references
Method = Callable[..., tuple[Compare, Signature]]  # what compares a batch, and what its numbers depend on
_PICTURE = datasets.Image()


class PictureModule(Module):
    """Takes pictures, which it reads before `evaluate` encodes them."""

    columns: ClassVar[dict[str, object]] = {"predictions": _PICTURE, "references": _PICTURE}
    example: ClassVar[dict[str, object]] = {"size": "reference"}

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


def paired(
    spec: Mapping[str, Any], method: Method, fields: Sequence[str] = (), any_sizes: bool = False
) -> Callable[..., dict[str, object]]:
    """A module's function that compares predictions with references, by a method that takes its other arguments.

    It gives the means of the fields; without fields, of all
    numbers of the spec, with the reasons for missing ones.
    """
    numbers = [column["name"] for column in spec["columns"] if "type" not in column]

    def compute(
        predictions: Sequence[object],
        references: Sequence[object],
        size: Size = None,
        batch_size: int = 8,
        **options: object,
    ) -> dict[str, object]:
        compared = pairs(predictions, references, size, any_sizes)
        compare, signature = method(**options)
        rows = in_batches(compared, batch_size, compare)
        summary = means(rows, fields) if fields else means_and_reasons(spec, rows, numbers)
        return summary | {"signature": signature_text(spec["name"], signature, size=size)}

    return compute


def scored(spec: Mapping[str, Any], scorer: Callable[..., PairScorer]) -> Callable[..., dict[str, object]]:
    """A module's function that computes what the scoring engine computes, with the engine's `scorer`."""

    def method(device: str = "cpu", dtype: str = "float32") -> tuple[Compare, Signature]:
        made = scorer(available_device(device), dtype, {})

        def compare(batch: list[Pair]) -> list[dict[str, Any]]:
            return [made.compare(made.prepare(original), [shown], [])[0] for shown, original in batch]

        return compare, made.signature

    return paired(spec, method)


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
