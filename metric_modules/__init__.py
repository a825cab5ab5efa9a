"""Scores: one folder per metric, and the engine that runs them all in one pass."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._engine.engine import Outcome

__all__ = ["score"]


def score(
    dataset: str | Path,
    metrics: Sequence[str] | None = None,
    *,
    device: str | None = None,
    dtype: str | None = None,
    batch_size: int | None = None,
    ssim_window: str = "gaussian",
    quiet: bool = False,
) -> "Outcome":
    """Add scores and floors to a dataset; the same call again computes only what is missing.

    Several processes of one launch share the work. What could not be computed is in the outcome's `absent`, pictures
    that could not be read are in its `damage`.
    """
    from contextlib import nullcontext

    from convergebench.dataset_builder.building import card
    from convergebench.generation.files import disk_errors_explained, locked
    from convergebench.generation.processes import rank_and_size, wait_for_all
    from convergebench.generation.progress import progress_bar

    from ._engine import engine

    folder = Path(dataset)
    rank, size = rank_and_size()
    job = engine.prepare(folder, metrics, device, dtype, {"ssim": {"window": ssim_window}})
    if rank == 0:
        card.refuse_other_folders(folder)
    title = "score" if size == 1 else f"score, part 1 of {size}"
    with disk_errors_explained(folder), locked(folder) if rank == 0 else nullcontext():
        with progress_bar(title, job.images(rank, size), "images", quiet or rank > 0) as advance:
            outcome = engine.run(job, rank, size, wait_for_all, batch_size or engine.BATCH, advance)
        if rank == 0:
            card.write(folder)
    return outcome
