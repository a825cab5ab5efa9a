"""What a reader sees: the report, its figures and the Space."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reporting.board import Board

__all__ = ["report"]


def report(
    dataset: str | Path, out: str | Path = "report", *, threshold: float = 0.5, framing: float | None = None
) -> "Board":
    """Write the report of a scored dataset and return its first table.

    Several processes may call it: the first of them writes, when all have come so far.
    """
    from convergebench.generation.processes import by_the_first

    from .reporting.board import write_board

    return by_the_first(lambda: write_board(Path(dataset), Path(out), threshold, framing))
