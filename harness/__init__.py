"""The benchmark inside other programs: as an Inspect task, and as a callback of a training loop."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .training import ConvergenceCallback as ConvergenceCallback

__all__ = ["ConvergenceCallback"]


def __getattr__(name: str) -> object:
    if name == "ConvergenceCallback":
        from .training import ConvergenceCallback

        return ConvergenceCallback
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
