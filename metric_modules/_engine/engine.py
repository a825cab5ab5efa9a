"""All metrics in one pass over a dataset, on any number of processes.

Work is shared in whole chains, so that no number depends on how it is shared. Each process writes what it finished to
its own shards; the processes wait for each other at barriers, and the first one writes the dataset's files. If a
process dies, accelerate ends all of them, and the same command resumes from the shards.
"""

import contextlib
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.dataset.reader import Place, Reader
from convergebench.dataset_builder.dataset.rows import FLOORS
from convergebench.dataset_builder.dataset.schema import write
from convergebench.generation.files import Locked, locked
from convergebench.generation.records import UserError

from ..scores import Missing, scores_config
from ..specs import Spec
from . import metrics, table
from .chains import DatasetChain, find_chains
from .floors import FloorPlace, FloorTask, Medians, floor_medians, floor_place, plan_floors, suite_sources
from .metrics import MetricRun, Metrics
from .results import FOLDER, Results, ShardLines, open_shard, read_results
from .worker import Advance, Worker

BATCH = 4
GPU_BATCH = 32  # a whole chain of v1, all of whose pictures have one size
_HELD = ".held"  # in the folder of the shards: a lock for each task


@dataclass
class Job:
    """A dataset, the requested metrics, and the results so far."""

    folder: Path
    reader: Reader
    chains: list[DatasetChain]
    metrics: Metrics
    tasks: list[FloorTask]
    results: Results

    def lacking(self, chain: DatasetChain) -> list[MetricRun]:
        """The metrics that are still to be computed for a chain."""
        scores, name = self.results.scores, chain.chain.id
        runs = self.metrics.runs if chain.scored_steps else ()
        return [run for run in runs if (name, run.name) not in scores or scores[name, run.name][0] != run.signature]

    def lacking_floors(self, task: FloorTask) -> list[MetricRun]:
        """The metrics whose floor is still to be computed for a reference."""
        key, floors = task.key, self.results.floors
        runs = [run for run in self.metrics.runs if run.spec.floors]
        return [run for run in runs if floors.get((key, run.name), (None,))[0] != run.floor_signature]

    def stored_specs(self) -> dict[str, Spec]:
        """The metrics with columns; an optional one has if it has results."""
        computed = {name for _, name in self.results.scores}
        return {name: spec for name, spec in self.metrics.specs.items() if not spec.optional or name in computed}

    @cached_property
    def unfinished(self) -> tuple[list[DatasetChain], list[FloorTask]]:
        """What the files lack, computed before any shard is read."""
        self.results.forget_damage()
        chains = [chain for chain in self.chains if self.lacking(chain)]
        return chains, [task for task in self.tasks if self.lacking_floors(task)]

    def part(self, rank: int, size: int) -> tuple[list[DatasetChain], list[FloorTask]]:
        """One part's unfinished chains, and the floors that they need.

        The first part also has the floors that no chain needs.
        """
        all_chains, tasks = self.unfinished
        chains = [all_chains[index] for index in share([chain.cost for chain in all_chains], rank, size)]
        needed, needed_by_all = ({floor_place(chain)[1:] for chain in some} for some in (chains, all_chains))
        return chains, [
            task for task in tasks if task.place in needed or (rank == 0 and task.place not in needed_by_all)
        ]

    def images(self, rank: int, size: int) -> int:
        """How many pictures one part has to score."""
        return sum(len(chain.scored_steps) for chain in self.part(rank, size)[0])

    def take_in(self, lines: ShardLines) -> None:
        """Add finished work from the shards to the results."""
        digests = {chain.chain.id: chain.digest for chain in self.chains}
        self.results.add_lines(lines.new(), self.metrics.specs, digests)

    def floor_medians(self) -> dict[FloorPlace, Medians]:
        """The floor of each column, for every suite, source and evaluation size."""
        medians: dict[FloorPlace, Medians] = {}
        suites = suite_sources(self.chains)
        for task in self.tasks:
            pairs = self.results.pairs(task, self.metrics.specs)
            for suite, sources in suites.items() if pairs else ():
                medians[suite, *task.place] = floor_medians(pairs, sources)
        return medians

    def input_copies(self, chain: DatasetChain) -> list[Place]:
        """Where a chain's input can be read, in this chain or in another."""
        return self._copies[chain.input.step.sha256] if chain.input else []

    @cached_property
    def _copies(self) -> dict[str | None, list[Place]]:
        copies: dict[str | None, list[Place]] = defaultdict(list)
        for chain in self.chains:
            if chain.input:
                copies[chain.input.step.sha256].append(chain.input.place)
        return copies


@dataclass
class Outcome:
    """What this process did; the first one knows `rows` and `pairs`."""

    rank: int
    chains: int = 0  # scored by this process, as are the images
    images: int = 0
    seconds: float = 0.0
    rows: int = 0
    pairs: int = 0
    absent: dict[str, str] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)
    submitted: bool = False  # the tasks run on without this process


def prepare(
    folder: Path,
    requested: Sequence[str] | None = None,
    device: str | None = None,
    dtype: str | None = None,
    window: str = "gaussian",
) -> Job:
    """Read the dataset and load the metrics; `window` is that of SSIM."""
    reader = Reader(folder)
    if not reader.files("chains"):
        raise UserError(f"{folder} is not a dataset: it has no data/chains; `convergebench build` makes one")
    chosen = metrics.choose(requested, device, dtype, {"ssim": {"window": window}})
    chains = find_chains(reader)
    tasks = plan_floors(reader, chains)
    job = Job(folder, reader, chains, chosen, tasks, read_results(reader, chains, tasks, chosen.specs))
    job.unfinished  # noqa: B018 - before any shard is read
    return job


def run(
    job: Job,
    rank: int = 0,
    size: int = 1,
    barrier: Callable[[], None] = lambda: None,
    batch: int = BATCH,
    advance: Advance = lambda count, words: None,
) -> Outcome:
    """Score what is missing, with other processes; the first one writes."""
    with _locked_for(job) if rank == 0 else contextlib.nullcontext():
        barrier()  # another launch may still be writing the folder
        lines = ShardLines(job.folder / FOLDER)
        job.take_in(lines)
        job.results.forget_damage()  # it may have been repaired since
        barrier()  # all have read the shards of earlier launches before anyone adds to them
        outcome = _compute(job, rank, size, lines, batch, advance)
        barrier()
        if rank == 0:
            job.take_in(lines)
            finish(job, outcome)
    return outcome


def run_part(
    job: Job, rank: int, size: int, batch: int = BATCH, advance: Advance = lambda count, words: None
) -> Outcome:
    """Compute one part independently of the others: its chains with their floors."""
    folder = job.folder / FOLDER
    with part_held(folder, f"{rank:04d}"):
        # The chains of other parts of this size are not ours; those of another size may be.
        mine, others = _shard_name(rank, size), f"-of-{size:04d}.jsonl"
        lines = ShardLines(folder, lambda name: name.endswith(others) and name != mine)
        return _compute(job, rank, size, lines, batch, advance)


def _shard_name(rank: int, size: int) -> str:
    return f"{rank:04d}-of-{size:04d}.jsonl"


def _compute(job: Job, rank: int, size: int, lines: ShardLines, batch: int, advance: Advance) -> Outcome:
    chains, tasks = job.part(rank, size)
    job.take_in(lines)
    worker = Worker(job, advance)
    with open_shard(job.folder / FOLDER, _shard_name(rank, size)) as shard:
        worker.compare_floors([task for task in tasks if job.lacking_floors(task)], shard)
        job.take_in(lines)
        worker.score([chain for chain in chains if job.lacking(chain)], batch, job.floor_medians(), shard)
    return Outcome(rank, worker.chains, worker.images, worker.seconds, absent=dict(job.metrics.absent))


@contextlib.contextmanager
def part_held(folder: Path, name: str) -> Iterator[None]:
    """Lock one part, once no plain run holds the folder."""
    with contextlib.ExitStack() as stack:
        with locked(folder, wait=True):
            stack.enter_context(locked(folder / _HELD / name, wait=True))
        yield


@contextlib.contextmanager
def _locked_for(job: Job) -> Iterator[None]:
    """Lock the folder; UserError while another process or task holds it."""
    folder = job.folder / FOLDER
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(folder))
        except Locked:
            raise UserError(f"{job.folder} is being scored by another process; wait for it") from None
        for part in sorted((folder / _HELD).glob("*")):
            try:
                with locked(part):
                    pass
            except Locked:
                raise UserError(f"{job.folder} is being scored by task {part.name}; wait for it") from None
        yield
    with contextlib.suppress(OSError):
        folder.rmdir()


def clear(folder: Path) -> None:
    """Remove the shards, which are in the dataset's files by now."""
    for path in folder.glob("*.jsonl"):
        path.unlink()
    shutil.rmtree(folder / _HELD, ignore_errors=True)


def finish(job: Job, outcome: Outcome) -> None:
    """Write the files; the shards are superfluous then."""
    if any(map(job.lacking, job.chains)) or any(map(job.lacking_floors, job.tasks)):
        raise UserError("other processes did not compute their share; do all have the same weights and dtype?")
    medians, specs = job.floor_medians(), job.stored_specs()

    def rows() -> Iterator[dict[str, Any]]:
        for chain in sorted(job.chains, key=lambda chain: chain.chain.order):
            floors = medians.get(floor_place(chain), {})
            for row, values in table.chain_rows(chain, job.results, specs, job.metrics.absent, floors):
                missing = {value for value in values.values() if isinstance(value, Missing) and value.reason.damage}
                sentences = sorted(reason.sentence for reason in missing)
                outcome.damage += [f"chain {row['chain']}, step {row['step']}: {sentence}" for sentence in sentences]
                yield row

    outcome.rows = write(job.folder / "data/scores/0000.parquet", scores_config(specs), rows(), job.folder).rows
    floors = table.floor_rows(job.tasks, job.results, job.metrics.specs)
    outcome.pairs = write(job.folder / "data/floors/0000.parquet", FLOORS, floors, job.folder).rows
    clear(job.folder / FOLDER)


def share(costs: Sequence[int], rank: int, size: int) -> list[int]:
    """One share of the indices: consecutive, and of about equal cost."""
    total, before, indices = sum(costs), 0, []
    for index, cost in enumerate(costs):
        if total and min(int((before + cost / 2) * size / total), size - 1) == rank:
            indices.append(index)
        before += cost
    return indices
