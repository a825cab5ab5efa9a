"""Scoring in parts with datatrove.

A part depends on the dataset's files alone. Whoever writes
the files reads the parts and computes what is missing.
"""

import time
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.building import card
from convergebench.generation.cluster import Launch, Stage, remove_logs, run_stages, start_server
from convergebench.generation.files import disk_errors_explained

from .. import score
from . import engine, metrics
from .engine import Outcome


def _score_part(rank: int, size: int, device: str | None, **arguments: Any) -> None:
    device = metrics.device_of(metrics.find_device(device), rank)
    score(**arguments, device=device, shard=f"{rank}/{size}", quiet=True)


def _write_files(rank: int, size: int, **arguments: Any) -> None:
    for line in score(**arguments, quiet=True).damage:
        print(f"damaged: {line}")


def score_by(
    launch: Launch,
    dataset: Path,
    requested: tuple[str, ...] | None,
    device: str | None,
    dtype: str | None,
    batch: int,
) -> Outcome:
    """Score a dataset in tasks. If they are only submitted, the last of them writes the files."""
    if launch.executor == "local":
        start_server(__name__, "torch")
    started, folder = time.monotonic(), dataset.resolve()
    # One dtype for all tasks, whatever their machines would choose.
    dtype = dtype or metrics.fast_dtype(metrics.find_device(device))
    card.refuse_other_folders(dataset)
    chains, floors = engine.prepare(folder, requested, device, dtype).unfinished
    arguments: dict[str, Any] = {
        "dataset": folder,
        "metrics": requested,
        "device": device,
        "dtype": dtype,
        "batch_size": batch,
    }
    size = max(1, min(launch.tasks, len(chains)))
    stages: list[Stage] = [("scores", size, _score_part, arguments)] if chains or floors else []
    if launch.executor == "slurm":
        run_stages(launch, [*stages, ("files", 1, _write_files, arguments)])
        return Outcome(0, submitted=True)
    with disk_errors_explained(dataset):
        if stages:
            run_stages(launch, stages)
        outcome = score(**arguments, quiet=True)
    remove_logs(launch)
    outcome.chains, outcome.images = len(chains), sum(chain.images for chain in chains)
    outcome.seconds = time.monotonic() - started
    return outcome
