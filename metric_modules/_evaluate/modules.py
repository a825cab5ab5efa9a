"""The class of the `evaluate` modules, and checks of series of numbers.

Import it as a module: `evaluate` takes the first metric class in a namespace for the metric itself.
"""

import inspect
from collections.abc import Callable, Sequence, Sized
from numbers import Real
from typing import Any, ClassVar, Self

import datasets
import evaluate

Series = Sequence[float | None]  # one value for each round, None if it was not measured


class Module(evaluate.Metric):
    """An `evaluate` module around a function of the predictions; each metric's NAME.py makes one with `of`."""

    columns: ClassVar[dict[str, object]] = {"predictions": datasets.List(datasets.Value("float64"))}
    example: ClassVar[dict[str, object]] = {}  # arguments with which the module's page begins
    function: Callable[..., dict[str, object]]
    fetch_weights: Callable[..., object] | None = None

    @classmethod
    def of(
        cls,
        file: str,
        description: str | None,
        function: Callable[..., dict[str, object]],
        fetch_weights: Callable[..., object] | None = None,
        **attributes: object,
    ) -> type[Self]:
        """The class that `evaluate` finds in a file, from the file's `__name__` and `__doc__`."""
        # A class for each: evaluate looks for one, and names the module after it.
        attributes |= {"__module__": file, "__doc__": description, "function": staticmethod(function)}
        if fetch_weights:
            attributes["fetch_weights"] = staticmethod(fetch_weights)
        return type(file.rpartition(".")[2], (cls,), attributes)

    def _info(self) -> evaluate.MetricInfo:
        description = inspect.cleandoc(type(self).__doc__ or "")
        features = datasets.Features(self.columns)
        return evaluate.MetricInfo(
            description=description, citation="", inputs_description="The card explains them.", features=features
        )

    def _compute(self, *args: Any, **given: Any) -> dict[str, object]:
        return self.function(given.pop("predictions"), **given)


def check_series(name: str, series: Sequence[Series]) -> None:
    for number, values in enumerate(series, 1):
        if not (isinstance(values, Sized) and all(value is None or isinstance(value, Real) for value in values)):
            raise ValueError(f"{name} {number} must be a list of numbers or None, got {values!r}")


def check_counts(name: str, entries: Sequence | None, count: int) -> list:
    if entries is not None and len(entries) != count:
        raise ValueError(f"got {len(entries)} {name} for {count} curves; give one for each curve")
    return [] if entries is None else list(entries)


def checked_rounds(curves: Sequence[Series], rounds: Sequence[int] | None) -> list[int]:
    """The rounds; by default 1, 2, 3, ... to the end of the longest curve."""
    if not len(curves):
        raise ValueError("no curves were given; give at least one list of values")
    check_series("curve", curves)
    longest = max(len(curve) for curve in curves)
    if rounds is None:
        return list(range(1, max(longest, 1) + 1))
    whole = [int(round) for round in rounds]
    if not whole or whole != list(rounds) or whole[0] < 1 or sorted(set(whole)) != whole:
        raise ValueError(f"rounds must be growing whole numbers from 1 on, got {list(rounds)}")
    if longest > len(whole):
        raise ValueError(
            f"got {len(whole)} rounds for a curve of {longest} values; give one round for each value"
        )
    return whole
