"""What a reader sees: the report, its figures and the Space."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reporting.write import Board

__all__ = ["report"]

# Read when numpy and pyarrow are loaded. Matrix products are small here: a second thread of BLAS only waits, which was
# a quarter of a report's time. The system's allocator frees large blocks; Arrow's own held on to 100 MB of pictures.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def report(
    dataset: str | Path,
    out: str | Path = "report",
    *,
    threshold: float = 0.5,
    framing: float | None = None,
    programs_of: Callable[[str], Sequence[str]] | None = None,
) -> "Board":
    """Write the report of a scored dataset and return its first table.

    `programs_of` gives the programs of a suite; the report names those without a chain.

    Several processes may call it together: the first of them writes, once all have reached this call.
    """
    from convergebench.dataset_builder.dataset.manifest import no_dataset
    from convergebench.generation.shares import by_the_first

    if not Path(dataset).is_dir():
        raise no_dataset(dataset)
    from .reporting.write import write_board

    return by_the_first(lambda: write_board(Path(dataset), Path(out), threshold, framing, programs_of))
