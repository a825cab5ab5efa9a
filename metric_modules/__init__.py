"""Scores: one folder per metric, and the engine that runs them all in one pass."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
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
    shard: str | None = None,
    executor: str | None = None,
    tasks: int | None = None,
    logs: str | None = None,
    executor_args: Mapping[str, object] | None = None,
    quiet: bool = False,
) -> "Outcome":
    """Add scores and floors to a dataset; calling it again computes only what is missing.

    The outcome's `absent` says which metrics could not be computed, its `damage` which
    pictures could not be read. `shard` computes one part, I/N; a call without it uses
    the parts that there are. `executor` (local or slurm) runs `tasks` parts with
    datatrove. With slurm they are only `submitted`, and the last task writes the scores.
    """
    from convergebench.dataset_builder.dataset.manifest import no_dataset

    folder = Path(dataset)
    if not folder.is_dir():
        raise no_dataset(folder)
    from convergebench.dataset_builder.building import card
    from convergebench.generation.files import disk_errors_explained, locked
    from convergebench.generation.progress import progress_bar
    from convergebench.generation.shares import part, rank_and_size, wait_for_all

    from ._engine import engine
    from ._engine.metrics import find_device

    batch = batch_size or (engine.BATCH if find_device(device) == "cpu" else engine.GPU_BATCH)
    requested = tuple(metrics) if metrics is not None else None
    if executor is not None:
        from convergebench.generation.cluster import launch_of

        from ._engine import parts

        launch = launch_of(executor, tasks, logs, executor_args, folder, "score")
        return parts.score_by(launch, folder, requested, device, dtype, batch)
    rank, size = part(shard) if shard is not None else rank_and_size()
    writes = rank == 0 and shard is None
    job = engine.prepare(folder, requested, device, dtype)
    if writes:
        card.refuse_other_folders(folder)
    images = sum(chain.images for chain in job.part(rank, size)[0])
    title = "score" if size == 1 else f"score, part {rank + 1} of {size}"
    is_quiet = quiet or (rank > 0 and shard is None)
    with disk_errors_explained(folder), locked(folder) if writes else nullcontext():
        with progress_bar(title, images, "images", is_quiet) as advance:
            if shard is not None:
                return engine.run_part(job, rank, size, batch, advance)
            outcome = engine.run(job, rank, size, wait_for_all, batch, advance)
        if writes:
            card.write(folder, engine.MADE)
    return outcome
