"""Scoring in parts with datatrove, and the progress of those parts.

A part depends on the dataset's files alone, so it is the same whenever it is started. Whoever writes the files at the
end reads the finished parts and computes what is missing.
"""

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.building import card
from convergebench.generation.cluster import Launch, Stage, remove_logs, run_stages, start_server
from convergebench.generation.files import disk_errors_explained, locked

from . import engine, metrics
from .engine import Job, Outcome
from .results import CHECKED, FOLDER

_CHAIN = re.compile(rb', "chain": "([^"]+)"')  # the chain's id in a shard's line, after the checksum
_FRESH = 600.0  # seconds; a part that finished something since then counts as working


def work(rank: int, size: int, folder: Path, settings: Mapping[str, Any], batch: int) -> None:
    """One task; `settings` are further arguments of `engine.prepare`."""
    device = metrics.device_of(metrics.find_device(settings["device"]), rank)
    engine.run_part(engine.prepare(folder, **{**settings, "device": device}), rank, size, batch)


def _write_files(rank: int, size: int, folder: Path, settings: Mapping[str, Any], batch: int) -> None:
    for line in _collect(engine.prepare(folder, **settings), batch).damage:
        print(f"damaged: {line}")


def _collect(job: Job, batch: int) -> Outcome:
    with locked(job.folder):
        outcome = engine.run(job, batch=batch)
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
    card.refuse_other_folders(dataset)
    job = engine.prepare(folder, **{**settings, "dtype": dtype})
    chains, floors = job.unfinished
    arguments = {"folder": folder, "settings": {**settings, "dtype": dtype}, "batch": batch}
    size = max(1, min(launch.tasks, len(chains)))
    stages: list[Stage] = [("scores", size, work, arguments)] if chains or floors else []
    if launch.executor == "slurm":
        run_stages(launch, [*stages, ("files", 1, _write_files, arguments)])
        return Outcome(0, submitted=True)
    with disk_errors_explained(dataset):
        if stages:
            run_stages(launch, stages)
        outcome = _collect(job, batch)
    remove_logs(launch)
    outcome.chains, outcome.images = len(chains), sum(len(chain.scored_steps) for chain in chains)
    outcome.seconds = time.monotonic() - started
    return outcome
