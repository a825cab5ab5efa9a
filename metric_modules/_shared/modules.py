"""What the `evaluate` modules share; a module's own file holds its words, its options and its call.

Import this file whole: `evaluate` takes the first metric class that it sees in a module's file for the module itself.
"""

import inspect
from collections.abc import Callable
from typing import ClassVar

import datasets
import evaluate


class Module(evaluate.Metric):
    """Its description is the docstring of its class."""

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
    """A module that computes from numbers, by one function of its columns and options."""

    function: Callable[..., dict[str, object]]  # a staticmethod

    def _compute(self, predictions: list[object], **options: object) -> dict[str, object]:
        return self.function(predictions, **options)
