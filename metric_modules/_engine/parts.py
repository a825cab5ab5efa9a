"""Scoring in parts with datatrove, and the progress of those parts.

A part depends on the dataset's files alone, so it is the same whenever it is started. The plain command
reads the finished parts, computes what is missing and writes the dataset's scores.
"""

import re
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.building import card
from convergebench.generation.cluster import Launch, Stage, remove_logs, run_stages, start_server
from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.records import UserError

from . import engine, metrics
from .engine import Job, Outcome
from .results import CHECKED, FOLDER, ShardLines

_CHAIN = re.compile(rb', "chain": "([^"]+)"')  # the chain's id in a shard's line, after the checksum
_FRESH = 600.0  # seconds; a part that finished something since then counts as working


@lru_cache(maxsize=1)
def _cached_job(files: tuple[tuple[str, int, int], ...], folder: Path, **settings: Any) -> Job:
    """A job on these files; its index and the networks are loaded once for all tasks of a process."""
    return engine.prepare(folder, **settings)


def _files_of(dataset: Path) -> tuple[tuple[str, int, int], ...]:
    stats = {path: path.stat() for path in sorted(dataset.glob("data/*/**/*.parquet"))}
    return tuple((str(path), stat.st_size, stat.st_mtime_ns) for path, stat in stats.items())


def work(rank: int, size: int, folder: Path, settings: Mapping[str, Any], key: str, batch: int) -> None:
    """One task; `settings` are further arguments of `engine.prepare`."""
    settings = {**settings, "device": metrics.device_of(metrics.find_device(settings["device"]), rank)}
    job = _cached_job(_files_of(folder), folder, **settings)
    if job.key(size) != key:
        raise UserError(
            f"{folder} changed after the tasks were planned, or this machine has other metrics: "
            f"without {', '.join(job.metrics.absent) or 'none'}; run the command again"
        )
    engine.run_part(job, rank, size, batch)


def _write_files(rank: int, size: int, folder: Path, settings: Mapping[str, Any]) -> None:
    for line in _finish(engine.prepare(folder, **settings)).damage:
        print(f"damaged: {line}")


def _finish(job: Job) -> Outcome:
    """Write the dataset's files from what tasks computed."""
    outcome = Outcome(0, absent=dict(job.metrics.absent))
    with locked(job.folder), engine.locked_for(job):
        job.take_in(ShardLines(job.folder / FOLDER))
        engine.finish(job, outcome)
        card.write(job.folder)
    return outcome


def scored_so_far(dataset: Path, now: float) -> dict[str, float] | None:
    """Finished scores that are not in the files yet; nothing is locked.

    The number of chains, of parts into which the work was split, and of parts that finished something lately; and the
    seconds since anything was finished.
    """
    shards = {path: path.stat().st_mtime for path in sorted((dataset / FOLDER).glob("*.jsonl"))}
    if not shards:
        return None
    chains = set()
    for path in shards:
        with path.open("rb") as file:
            chains |= {match[1] for line in file if (match := _CHAIN.match(line, CHECKED - 2))}
    parts = max(int(path.stem.rpartition("-of-")[2]) for path in shards)
    working = sum(now - changed < _FRESH for changed in shards.values())
    quiet = max(0.0, now - max(shards.values()))
    return {"chains": len(chains), "parts": parts, "working": working, "quiet": quiet}


def score_by(launch: Launch, dataset: Path, settings: Mapping[str, Any], batch: int) -> Outcome:
    """Score a dataset in tasks. If they are only submitted, the last of them writes the files."""
    if launch.executor == "local":
        start_server(__name__, "torch")
    started, folder = time.monotonic(), dataset.resolve()
    # One dtype for all tasks, whatever their machines would choose.
    dtype = settings["dtype"] or metrics.fast_dtype(metrics.find_device(settings["device"]))
    settings = {**settings, "dtype": dtype}
    card.refuse_other_folders(dataset)
    job = engine.prepare(folder, **settings)
    chains = job.unfinished[0]
    size = max(1, min(launch.tasks, len(chains)))
    key = job.key(size)
    arguments = {"folder": folder, "settings": settings}
    stages: list[Stage] = []
    if any(job.unfinished):
        stages.append(("scores", size, work, {**arguments, "key": key, "batch": batch}))
    if launch.executor == "slurm":
        run_stages(launch, [*stages, ("files", 1, _write_files, arguments)])
        return Outcome(0, submitted=True)
    with disk_errors_explained(dataset):
        if stages:
            run_stages(launch, stages)
        outcome = _finish(job)
    remove_logs(launch)
    outcome.chains, outcome.images = len(chains), sum(len(chain.scored_steps) for chain in chains)
    outcome.seconds = time.monotonic() - started
    return outcome
