"""The base classes of the `evaluate` modules; a module's file adds its texts, its options and its computation.

Use `from ... import modules`, not its classes: `evaluate` takes the first metric class in a module's namespace for the
module itself.
"""

import inspect
from collections.abc import Callable
from typing import ClassVar

import datasets
import evaluate


class Module(evaluate.Metric):
    """An `evaluate` module that is described by the docstring of its class."""

    columns: ClassVar[dict[str, object]] = {"predictions": datasets.List(datasets.Value("float64"))}
    arguments: str
    cited = ""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=inspect.cleandoc(type(self).__doc__ or ""),
            citation=self.cited,
            inputs_description=self.arguments,
            features=datasets.Features(self.columns),
        )


class Statistic(Module):
    """A module that computes from series of numbers with a single function."""

    function: Callable[..., dict[str, object]]  # a staticmethod

    def _compute(self, predictions: list[object], **options: object) -> dict[str, object]:
        return self.function(predictions, **options)
