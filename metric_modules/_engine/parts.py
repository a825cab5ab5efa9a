"""Scoring in parts that need not run at the same time or on one machine: each is computed into files of its own.

What a part is depends on the dataset's files alone, so that it is the same whenever it is begun. The plain command
takes in whatever parts there are, computes what is missing and writes the dataset's scores.
"""

import contextlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.building import card
from convergebench.generation.cluster import Launch, Stage, forget, launch_of, remove_logs, run_stages, start_server
from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.records import UserError

from . import earlier_results, engine, metrics
from .earlier_results import Shard, ShardLines
from .engine import Job, Outcome
from .worker import Advance, Worker

CHAIN = re.compile(rb', "chain": "([^"]+)"')  # where a shard's line names its chain, after its checksum
FRESH = 600.0  # seconds; a part that finished something since then is taken for working


def run_part(
    job: Job,
    rank: int,
    size: int,
    batch: int = engine.BATCH,
    advance: Advance = lambda count, words: None,
    floors_only: bool = False,
) -> Outcome:
    """Compute one part of what the dataset lacks: its chains with the floors they need, or its share of all floors."""
    folder = job.folder / earlier_results.FOLDER
    chains, tasks = job.left
    own = [chains[place] for place in engine.share([chain.cost for chain in chains], rank, size)]
    if floors_only:
        tasks = [tasks[place] for place in engine.share([len(task.unrelated) for task in tasks], rank, size)]
    else:
        needed = {engine.floor_place(chain)[1:] for chain in own}
        tasks = [task for task in tasks if (task.reference.source, task.short_side) in needed]
    mine, others = f"{rank:04d}-of-{size:04d}.jsonl", f"-of-{size:04d}.jsonl"
    with part_held(folder, f"{rank:04d}"):
        # Chains of other parts of the same size are not ours; of another launch they may be.
        lines = ShardLines(folder, lambda name: name.endswith(others) and name != mine and name[:6] != "floors")
        digests = {chain.chain.id: chain.digest for chain in job.chains}

        def take_in() -> None:
            job.results.add_lines(lines.new(), job.metrics.specs, digests)

        take_in()
        shard = Shard(folder, f"floors-{mine}")
        worker = Worker(job, shard, advance)
        try:
            worker.compare_floors([task for task in tasks if job.lacking_floors(task)])
            shard.file.close()
            if not floors_only:
                take_in()
                worker.shard = shard = Shard(folder, mine)
                worker.score([chain for chain in own if job.lacking(chain)], batch, job.floor_medians())
        finally:
            shard.file.close()
    outcome = Outcome(rank, worker.chains, worker.images, worker.seconds, absent=dict(job.metrics.absent))
    outcome.shares = worker.shares
    return outcome


@contextlib.contextmanager
def part_held(folder: Path, name: str) -> Iterator[None]:
    """Hold one part; whoever else begins it waits, and finds it done. A plain run is waited for."""
    with contextlib.ExitStack() as stack:
        with locked(folder, wait=True):
            stack.enter_context(locked(folder / engine.HELD / name, wait=True))
        yield


# What a task is told is plain, for it is pickled: the words below are those of `job_of`.


@lru_cache(maxsize=1)
def ready_metrics(asked: tuple[str, ...] | None, device: str | None, dtype: str, window: str) -> metrics.Metrics:
    """The networks, loaded once for all tasks of a process."""
    return metrics.choose(asked, device, dtype, {"ssim": {"window": window}})


def job_of(
    dataset: str, folder: Path | None, asked: tuple[str, ...] | None, device: str | None, dtype: str, window: str
) -> Job:
    """The dataset as it is now; results are kept beside it, or in the folder of a machine that has no part in it."""
    job = engine.prepare(Path(dataset), chosen=ready_metrics(asked, device, dtype, window), where=dataset)
    job.folder = folder or job.folder
    return job


@lru_cache(maxsize=1)
def kept_job(files: tuple[tuple[str, int, int], ...], **words: Any) -> Job:
    """The dataset with these files, whose index is read once for all tasks of a process."""
    return job_of(folder=None, **words)


def files_of(dataset: str) -> tuple[tuple[str, int, int], ...]:
    """The files of a dataset, and what changes when one of them does."""
    states = {path: path.stat() for path in sorted(Path(dataset).glob("data/*/**/*.parquet"))}
    return tuple((str(path), state.st_size, state.st_mtime_ns) for path, state in states.items())


def work(
    rank: int,
    size: int,
    words: Mapping[str, Any],
    keys: Mapping[int, str],
    batch: int,
    floors_only: bool,
    folder: Path | None = None,
) -> None:
    """One task of a stage."""
    device = metrics.device_of(metrics.find_device(words["device"]), rank)
    told = {**words, "device": device}
    job = job_of(folder=folder, **told) if folder else kept_job(files_of(told["dataset"]), **told)
    if job.key(size) != keys[size]:
        raise UserError(
            f"{words['dataset']} is not what it was when the tasks were dealt, or this machine has other metrics: "
            f"without {', '.join(job.metrics.absent) or 'none'}; give the command again"
        )
    run_part(job, rank, size, batch, floors_only=floors_only)


def write_files(rank: int, size: int, words: Mapping[str, Any], launch: Launch, stages: Sequence[str]) -> None:
    """The last task: write the dataset's files from what the others computed."""
    outcome = finish(job_of(folder=None, **words), launch, stages)
    for line in outcome.damage:
        print(f"damaged: {line}")


def finish(job: Job, launch: Launch, stages: Sequence[str]) -> Outcome:
    """Write the dataset's files; what is then known of the tasks is forgotten, so that a later launch begins anew."""
    folder, outcome = job.folder / earlier_results.FOLDER, Outcome(0, absent=dict(job.metrics.absent))
    job.left  # noqa: B018 - before any shard is read
    try:
        with locked(job.folder), engine.lock_of(folder, job):
            engine.refuse_tasks(folder)
            digests = {chain.chain.id: chain.digest for chain in job.chains}
            job.results.add_lines(ShardLines(folder).new(), job.metrics.specs, digests)
            engine.finish(job, outcome)
            engine.clear(folder)
            card.write(job.folder)
    finally:
        forget(launch, stages)
    with contextlib.suppress(OSError):
        folder.rmdir()
    return outcome


@dataclass(frozen=True)
class ScoredSoFar:
    """What is finished of a dataset's scores and not in its files yet."""

    chains: int
    parts: int  # into which the work was dealt
    working: int  # of them, those that have finished something lately
    quiet: float  # seconds since the last of them did


def scored_so_far(dataset: Path, now: float) -> ScoredSoFar | None:
    """How far those are that score a dataset; None where nobody has begun. Nothing is locked and nothing is written."""
    shards = {path: path.stat().st_mtime for path in shards_of(dataset)}
    if not shards:
        return None
    chains = set()
    for path in shards:
        with path.open("rb") as file:
            chains |= {found[1] for line in file if (found := CHAIN.match(line, earlier_results.CHECKED - 2))}
    dealt = [int(path.stem.rpartition("-of-")[2]) for path in shards if "-of-" in path.stem]
    working = {path.stem.removeprefix("floors-") for path, at in shards.items() if now - at < FRESH}
    return ScoredSoFar(len(chains), max(dealt, default=len(shards)), len(working), max(0.0, now - max(shards.values())))


def shards_of(folder: Path) -> list[Path]:
    """What a task has finished, as it is carried."""
    return sorted((folder / earlier_results.FOLDER).glob("*.jsonl"))


def score_by(
    executor: str,
    tasks: int | None,
    logs: str | None,
    arguments: Mapping[str, Any],
    dataset: Path,
    asked: Sequence[str] | None,
    device: str | None,
    dtype: str | None,
    window: str,
    batch: int,
) -> Outcome:
    """Score a dataset by an executor of datatrove's; where it is submitted only, the last task writes the files."""
    from convergebench.generation.carried import Carry, arriving

    source = dict(arguments)
    remote = source.pop("dataset", None) if executor == "jobs" else None
    if executor == "jobs" and not str(remote or "").startswith("hf://"):
        raise UserError(
            "jobs need --executor-arg dataset=hf://datasets/NAMESPACE/NAME, the published copy that they read"
        )
    launch = launch_of(executor, tasks, logs, source, dataset, f"score-{dataset.resolve().name}-")
    if executor == "local":
        start_server(__name__, "torch")
    words = {
        "dataset": str(dataset.resolve()),
        "asked": tuple(asked) if asked is not None else None,
        "device": device,
        "dtype": dtype or metrics.fast_dtype(metrics.find_device(device)),  # one for all, whatever their machines
        "window": window,
    }
    started = time.monotonic()
    card.refuse_other_folders(dataset)
    job = job_of(folder=None, **words)  # type: ignore[arg-type]
    chains, floors = job.left
    size = max(1, min(launch.tasks, len(chains)))
    few = max(1, min(launch.tasks, len(floors)))
    keys = {each: job.key(each) for each in (size, few)}
    launch = Launch(launch.executor, size, launch.logs + keys[size], launch.arguments)
    told = {**words, "dataset": remote or words["dataset"]}
    carry = Carry(f"{launch.logs}/carried", shards_of, "folder", shared=True) if remote else None
    about = {"words": told, "keys": keys, "batch": batch}
    stages = [
        Stage("floors", few, work, {**about, "floors_only": True}, carry),
        Stage("scores", size, work, {**about, "floors_only": False}, carry),
    ]
    stages = [stage for stage, left in zip(stages, (floors, chains), strict=True) if left]
    names = [stage.name for stage in stages]
    if executor == "slurm":
        last = {"words": words, "launch": launch, "stages": names}
        run_stages(launch, [*stages, Stage("files", 1, write_files, last, always=True)])
        return Outcome(0, submitted=True)
    with disk_errors_explained(dataset):
        with arriving(carry.place, dataset) if carry else contextlib.nullcontext():
            if stages:
                run_stages(launch, stages)
        outcome = finish(job, launch, names)
    remove_logs(launch)
    outcome.chains, outcome.images = len(chains), sum(len(chain.scored_steps) for chain in chains)
    outcome.seconds = time.monotonic() - started
    return outcome
