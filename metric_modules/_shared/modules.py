"""The base class of the `evaluate` modules; a module's file adds its description, its function and an example.

Use `from ... import modules`, not its class: `evaluate` takes the first metric class in a module's namespace for the
module itself.
"""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import datasets
import evaluate


class Module(evaluate.Metric):
    """An `evaluate` module that is described by the docstring of its class; its card explains inputs and results."""

    columns: ClassVar[dict[str, object]] = {"predictions": datasets.List(datasets.Value("float64"))}
    example: ClassVar[dict[str, object]] = {}  # arguments with which the module's page begins
    function: Callable[..., dict[str, object]]  # a staticmethod

    def _info(self) -> evaluate.MetricInfo:
        description = inspect.cleandoc(type(self).__doc__ or "")
        features = datasets.Features(self.columns)
        return evaluate.MetricInfo(
            description=description, citation="", inputs_description="The card explains them.", features=features
        )

    def _compute(self, *args: Any, **given: Any) -> dict[str, object]:
        return self.function(given.pop("predictions"), **given)
