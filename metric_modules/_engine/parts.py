"""Scoring in parts with datatrove.

A part depends on the dataset's files alone. Whoever writes the files reads the parts and computes what is missing.
"""

import time
from pathlib import Path

from convergebench.dataset_builder.building import card
from convergebench.generation.cluster import Launch, Stage, remove_logs, run_stages, start_server
from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.records import Values

from . import engine, metrics
from .engine import Job, Outcome


def work(rank: int, size: int, folder: Path, settings: Values, batch: int) -> None:
    """One task; `settings` are further arguments of `engine.prepare`."""
    device = metrics.device_of(metrics.find_device(settings["device"]), rank)
    engine.run_part(engine.prepare(folder, **{**settings, "device": device}), rank, size, batch)


def _write_files(rank: int, size: int, folder: Path, settings: Values, batch: int) -> None:
    for line in _collect(engine.prepare(folder, **settings), batch).damage:
        print(f"damaged: {line}")


def _collect(job: Job, batch: int) -> Outcome:
    with locked(job.folder):
        outcome = engine.run(job, batch=batch)
        card.write(job.folder, engine.MADE)
    return outcome


def score_by(launch: Launch, dataset: Path, settings: Values, batch: int) -> Outcome:
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
