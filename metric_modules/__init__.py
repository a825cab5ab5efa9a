"""Scores: one folder per metric, and the engine that runs them all in one pass."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._engine.engine import Outcome
    from ._judges.run import Outcome as Judgement

__all__ = ["judge", "score"]


def score(
    dataset: str | Path,
    metrics: Sequence[str] | None = None,
    *,
    device: str | None = None,
    dtype: str | None = None,
    batch_size: int | None = None,
    ssim_window: str = "gaussian",
    shard: str | None = None,
    executor: str | None = None,
    tasks: int | None = None,
    logs: str | None = None,
    executor_args: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> "Outcome":
    """Add scores and floors to a dataset; the same call again computes only what is missing.

    Several processes of one launch share the work. What could not be computed is in the outcome's `absent`, pictures
    that could not be read are in its `damage`. `shard` computes one part, I/N, for which others need not be there; the
    call without it takes the parts in. `executor` runs `tasks` parts by datatrove: local, slurm, ray or jobs; to slurm
    they are `submitted`, and its last task writes the scores when this call has long returned.
    """
    from contextlib import nullcontext

    from convergebench.dataset_builder.building import card
    from convergebench.generation.files import disk_errors_explained, locked
    from convergebench.generation.processes import part, rank_and_size, wait_for_all
    from convergebench.generation.progress import progress_bar

    from ._engine import engine
    from ._engine.metrics import find_device

    folder = Path(dataset)
    batch = batch_size or (engine.BATCH if find_device(device) == "cpu" else engine.GPU_BATCH)
    if executor is not None:
        from ._engine.parts import score_by

        asked = tuple(metrics) if metrics is not None else None
        settings = {"asked": asked, "device": device, "dtype": dtype, "window": ssim_window}
        return score_by(executor, tasks, logs, executor_args, folder, settings, batch)
    rank, size = rank_and_size()
    if shard is not None:
        rank, size = part(shard)
        job = engine.prepare(folder, metrics, device, dtype, {"ssim": {"window": ssim_window}})
        images = job.images(rank, size)
        with (
            disk_errors_explained(folder),
            progress_bar(f"score, part {rank + 1} of {size}", images, "images", quiet) as advance,
        ):
            return engine.run_part(job, rank, size, batch, advance)
    job = engine.prepare(folder, metrics, device, dtype, {"ssim": {"window": ssim_window}})
    if rank == 0:
        card.refuse_other_folders(folder)
    title = "score" if size == 1 else f"score, part 1 of {size}"
    with disk_errors_explained(folder), locked(folder) if rank == 0 else nullcontext():
        with progress_bar(title, job.images(rank, size), "images", quiet or rank > 0) as advance:
            outcome = engine.run(job, rank, size, wait_for_all, batch, advance)
        if rank == 0:
            card.write(folder)
    return outcome


def judge(
    dataset: str | Path,
    judge: str,
    question: str,
    *,
    max_cost: float | None = None,
    limit: int | None = None,
    editors: Sequence[str] = (),
    programs: Sequence[str] = (),
    calibration: int | None = None,
    again: bool = False,
    quiet: bool = False,
) -> "Judgement":
    """Ask a model one question about a dataset's steps; the same call again asks only what is missing.

    `judge` names it with its options, as `gemini` or `openai:model=NAME,base_url=http://HOST/v1`; `question` is a
    question's name or a file. A fixed sample of `calibration` steps is asked again in each run; the outcome's `alarms`
    say where it is answered otherwise than at first.
    """
    from convergebench.generation.progress import progress_bar

    from ._judges import asks, backends, drift, questions, run

    return run.judge_question(
        Path(dataset),
        backends.choose(judge),
        questions.load(question),
        max_cost=max_cost,
        chosen=asks.chooser(editors, programs),
        limit=limit,
        sample=drift.SAMPLE if calibration is None else calibration,
        again=again,
        advance=lambda calls: progress_bar("asking", calls, "answers", quiet=quiet),
    )
