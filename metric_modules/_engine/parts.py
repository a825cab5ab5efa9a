"""Scoring in parts with datatrove, and the progress of those parts.

A part depends on the dataset's files alone, so it is the same whenever it is started. The plain command
reads the finished parts, computes what is missing and writes the dataset's scores.
"""

import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.building import card
from convergebench.generation.cluster import Launch, Stage, forget, launch_of, remove_logs, run_stages, start_server
from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.records import UserError

from . import engine, metrics
from .engine import Job, Outcome
from .results import CHECKED, FOLDER, ShardLines

_CHAIN = re.compile(rb', "chain": "([^"]+)"')  # the chain's id in a shard's line, after the checksum
_FRESH = 600.0  # seconds; a part that finished something since then counts as working


# Tasks are pickled, so they are given plain values: `settings` are the arguments of `job_of`.


def job_of(
    dataset: str,
    requested: tuple[str, ...] | None,
    device: str | None,
    dtype: str | None,
    window: str,
) -> Job:
    """A job on the dataset's present files."""
    return engine.prepare(Path(dataset), requested, device, dtype, {"ssim": {"window": window}})


@lru_cache(maxsize=1)
def _cached_job(files: tuple[tuple[str, int, int], ...], **settings: Any) -> Job:
    """A job on these files; its index and the networks are loaded once for all tasks of a process."""
    return job_of(**settings)


def _files_of(dataset: str) -> tuple[tuple[str, int, int], ...]:
    """The path, size and modification time of every file of a dataset."""
    stats = {path: path.stat() for path in sorted(Path(dataset).glob("data/*/**/*.parquet"))}
    return tuple((str(path), stat.st_size, stat.st_mtime_ns) for path, stat in stats.items())


def work(
    rank: int,
    size: int,
    settings: Mapping[str, Any],
    keys: Mapping[int, str],
    batch: int,
    floors_only: bool,
) -> None:
    """One task of a stage."""
    settings = {**settings, "device": metrics.device_of(metrics.find_device(settings["device"]), rank)}
    job = _cached_job(_files_of(settings["dataset"]), **settings)
    if job.key(size) != keys[size]:
        raise UserError(
            f"{settings['dataset']} changed after the tasks were planned, or this machine has other metrics: "
            f"without {', '.join(job.metrics.absent) or 'none'}; run the command again"
        )
    engine.run_part(job, rank, size, batch, floors_only=floors_only)


def _write_files(rank: int, size: int, settings: Mapping[str, Any], launch: Launch, stages: Sequence[str]) -> None:
    """The last task: write the dataset's files from what the others computed."""
    for line in _finish(job_of(**settings), launch, stages).damage:
        print(f"damaged: {line}")


def _finish(job: Job, launch: Launch, stages: Sequence[str]) -> Outcome:
    """Write the dataset's files and forget that the tasks are complete, so that a later launch starts anew."""
    folder, outcome = job.folder / FOLDER, Outcome(0, absent=dict(job.metrics.absent))
    job.unfinished  # noqa: B018 - before any shard is read
    try:
        with locked(job.folder), engine.locked_for(job):
            job.take_in(ShardLines(folder))
            engine.finish(job, outcome)
            engine.clear(folder)
            card.write(job.folder)
    finally:
        forget(launch, stages)
    with contextlib.suppress(OSError):
        folder.rmdir()
    return outcome


def scored_so_far(dataset: Path, now: float) -> dict[str, float] | None:
    """Finished scores that are not in the dataset's files yet; None if there are none. Nothing is locked.

    The number of chains, of parts into which the work was split, and of parts that finished something lately; and the
    seconds since anything was finished.
    """
    shards = {path: path.stat().st_mtime for path in _shards_of(dataset)}
    if not shards:
        return None
    chains = set()
    for path in shards:
        with path.open("rb") as file:
            chains |= {match[1] for line in file if (match := _CHAIN.match(line, CHECKED - 2))}
    parts = max(int(path.stem.rpartition("-of-")[2]) for path in shards)
    working = {path.stem.removeprefix("floors-") for path, changed in shards.items() if now - changed < _FRESH}
    quiet = max(0.0, now - max(shards.values()))
    return {"chains": len(chains), "parts": parts, "working": len(working), "quiet": quiet}


def _shards_of(folder: Path) -> list[Path]:
    """The shards in which tasks record what they finished."""
    return sorted((folder / FOLDER).glob("*.jsonl"))


def score_by(
    executor: str,
    tasks: int | None,
    logs: str | None,
    arguments: Mapping[str, object] | None,
    dataset: Path,
    settings: Mapping[str, Any],
    batch: int,
) -> Outcome:
    """Score a dataset in tasks. If they are only submitted, the last of them writes the files."""
    launch = launch_of(executor, tasks, logs, arguments, dataset, "score")
    if executor == "local":
        start_server(__name__, "torch")
    # One dtype for all tasks, whatever their machines would choose.
    dtype = settings["dtype"] or metrics.fast_dtype(metrics.find_device(settings["device"]))
    settings = {**settings, "dtype": dtype, "dataset": str(dataset.resolve())}
    started = time.monotonic()
    card.refuse_other_folders(dataset)
    job = job_of(**settings)
    chains, floors = job.unfinished
    size = max(1, min(launch.tasks, len(chains)))
    floor_size = max(1, min(launch.tasks, len(floors)))
    keys = {tasks: job.key(tasks) for tasks in (size, floor_size)}
    launch = launch.of(keys[size], size)
    work_arguments = {"settings": settings, "keys": keys, "batch": batch}
    stages = []
    if floors:
        stages.append(Stage("floors", floor_size, work, {**work_arguments, "floors_only": True}))
    if chains:
        stages.append(Stage("scores", size, work, {**work_arguments, "floors_only": False}))
    names = [stage.name for stage in stages]
    if executor == "slurm":
        last = {"settings": settings, "launch": launch, "stages": names}
        run_stages(launch, [*stages, Stage("files", 1, _write_files, last, always=True)])
        return Outcome(0, submitted=True)
    with disk_errors_explained(dataset):
        if stages:
            run_stages(launch, stages)
        outcome = _finish(job, launch, names)
    remove_logs(launch)
    outcome.chains, outcome.images = len(chains), sum(len(chain.scored_steps) for chain in chains)
    outcome.seconds = time.monotonic() - started
    return outcome
