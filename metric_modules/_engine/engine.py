"""The scoring engine: all metrics in one pass over a dataset, on any number of processes.

Work is shared out in whole chains, so that the numbers cannot depend on how it is shared. Each process writes what it
finished to its own shard; at a barrier they wait for each other, and the first one writes the dataset's files. Where
one process dies, accelerate ends all of them, and the same command again goes on from the shards.
"""

import contextlib
import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.dataset.reader import Place, Reader
from convergebench.generation.files import Locked, locked
from convergebench.generation.records import UserError

from ..scores import Missing, Values
from ..specs import Spec
from . import earlier_results, metrics, table
from .chains import DatasetChain, find_chains
from .earlier_results import Results, Shard, ShardLines
from .floors import FloorPlace, FloorTask, Medians, floor_medians, floor_place, plan_floors, suite_sources
from .metrics import MetricRun, Metrics
from .worker import Advance, Worker

BATCH = 4
GPU_BATCH = 32  # a whole chain of v1, all of whose pictures have one size
HELD = ".held"  # in the folder of the shards: a lock for each task


@dataclass
class Job:
    """A dataset, the metrics asked for, and the results that there are."""

    folder: Path
    reader: Reader
    chains: list[DatasetChain]
    metrics: Metrics
    tasks: list[FloorTask]
    results: Results

    def lacking(self, chain: DatasetChain) -> list[MetricRun]:
        """The metrics that are still to be computed for a chain."""
        if not chain.scored_steps:
            return []
        found = {run: self.results.scores.get((chain.chain.id, run.name)) for run in self.metrics.runs}
        return [run for run, known in found.items() if known is None or known[0] != run.signature]

    def lacking_floors(self, task: FloorTask) -> list[MetricRun]:
        """The metrics whose floor is still to be computed for a reference."""
        found = {run: self.results.floors.get((task.key, run.name)) for run in self.metrics.runs if run.spec.floors}
        return [
            run
            for run, known in found.items()
            if known is None or known[0] != run.floor_signature or self.lacks_pairs(task, known[1])
        ]

    def lacks_pairs(self, task: FloorTask, values: Mapping[str, Values]) -> bool:
        """Whether pairs were left out, as where a source was damaged that may be whole by now."""
        left_out = {other.source for other in task.unrelated} - values.keys()
        return bool(left_out) and not self.results.damaged.get(task.key)

    def stored_specs(self) -> dict[str, Spec]:
        """The metrics that have columns in the scores: an optional one where any chain has results of it."""
        found = {name for _, name in self.results.scores}
        return {name: spec for name, spec in self.metrics.specs.items() if not spec.optional or name in found}

    @cached_property
    def left(self) -> tuple[list[DatasetChain], list[FloorTask]]:
        """The chains and floors that the dataset's files lack; computed before any shard is read, it stays the same."""
        self.results.forget_damage()
        chains = [chain for chain in self.chains if self.lacking(chain)]
        return chains, [task for task in self.tasks if self.lacking_floors(task)]

    def share(self, rank: int, size: int) -> list[DatasetChain]:
        """One part's chains among those that lack something."""
        chains = self.left[0]
        return [chains[place] for place in share([chain.cost for chain in chains], rank, size)]

    def key(self, size: int) -> str:
        """Names what is left to do in this many parts: equal for the same dataset and metrics."""
        chains, tasks = self.left
        signatures = {run.name: run.signature for run in self.metrics.runs}
        content = [size, signatures, [(one.chain.id, one.digest) for one in chains], [task.key for task in tasks]]
        return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def images(self, rank: int, size: int) -> int:
        """How many pictures one part has to score."""
        return sum(len(chain.scored_steps) for chain in self.share(rank, size))

    def take_in(self, lines: ShardLines) -> None:
        """Add finished work from the shards to the results."""
        digests = {chain.chain.id: chain.digest for chain in self.chains}
        self.results.add_lines(lines.new(), self.metrics.specs, digests)

    def floor_medians(self) -> dict[FloorPlace, Medians]:
        """The floor of each column, for every suite, source and evaluation size."""
        found: dict[FloorPlace, Medians] = {}
        suites = suite_sources(self.chains)
        for task in self.tasks:
            values: dict[str, Values] = defaultdict(dict)
            if self.results.damaged.get(task.key):
                continue  # the median of the others would be another number
            for name in self.metrics.specs:
                for other, row in self.results.floors.get((task.key, name), ({}, {}))[1].items():
                    values[other].update(row)
            for suite, sources in suites.items():
                found[suite, task.reference.source, task.short_side] = floor_medians(values, sources)
        return found

    def input_copies(self, chain: DatasetChain) -> list[Place]:
        """Where a chain's input can be read, in this chain or in another."""
        return self._copies[chain.input.step.sha256] if chain.input else []

    @cached_property
    def _copies(self) -> dict[str | None, list[Place]]:
        found: dict[str | None, list[Place]] = defaultdict(list)
        for chain in self.chains:
            if chain.input:
                found[chain.input.step.sha256].append(chain.input.place)
        return found


@dataclass
class Outcome:
    """What came of a run, in this process; the first process also knows of the whole."""

    rank: int
    chains: int = 0  # scored by this process, as are the images, in so many seconds
    images: int = 0
    seconds: float = 0.0
    rows: int = 0  # in the dataset now; 0 in all processes but the first
    pairs: int = 0
    absent: dict[str, str] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    submitted: bool = False  # to others, who are still at it

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def prepare(
    folder: Path,
    asked: Sequence[str] | None = None,
    device: str | None = None,
    dtype: str | None = None,
    options: metrics.Options | None = None,
    chosen: Metrics | None = None,
    where: str | None = None,
) -> Job:
    """Read what there is and make the metrics ready; `where` names a dataset on the Hub."""
    reader = Reader(where or folder)
    if not reader.files("chains"):
        raise UserError(f"{folder} is no dataset: there is no data/chains; `convergebench build` makes one")
    chosen = chosen or metrics.choose(asked, device, dtype, options)
    chains = find_chains(reader)
    tasks = plan_floors(reader, chains)
    return Job(folder, reader, chains, chosen, tasks, earlier_results.read_results(reader, chains, tasks, chosen.specs))


def run(
    job: Job,
    rank: int = 0,
    size: int = 1,
    barrier: Callable[[], None] = lambda: None,
    batch: int = BATCH,
    advance: Advance = lambda count, words: None,
) -> Outcome:
    """Score what is lacking, together with other processes; the first writes the dataset's scores and floors."""
    folder = job.folder / earlier_results.FOLDER
    with locked_for(job) if rank == 0 else contextlib.nullcontext():
        barrier()  # nobody reads a folder that another launch is writing
        job.left  # noqa: B018 - before any shard is read
        lines = ShardLines(folder)
        job.take_in(lines)
        job.results.forget_damage()  # it may have been repaired since
        barrier()  # all have read the shards of earlier launches before anyone adds to them
        if size > 1:
            _compute(job, rank, size, lines, batch, advance, floors_only=True)
            barrier()
        outcome = _compute(job, rank, size, lines, batch, advance)
        barrier()
        if rank == 0:
            job.take_in(lines)
            finish(job, outcome)
            clear(folder)
    if rank == 0:
        with contextlib.suppress(OSError):
            folder.rmdir()
    return outcome


def run_part(
    job: Job,
    rank: int,
    size: int,
    batch: int = BATCH,
    advance: Advance = lambda count, words: None,
    floors_only: bool = False,
) -> Outcome:
    """Compute one part, for which no other has to be running: its chains with their floors, or its share of floors."""
    folder = job.folder / earlier_results.FOLDER
    job.left  # noqa: B018 - before any shard is read
    with part_held(folder, f"{rank:04d}"):
        # The chains of other parts of this size are not ours; those of another size may be.
        mine, others = _shard_name(rank, size), f"-of-{size:04d}.jsonl"
        lines = ShardLines(folder, lambda name: name.endswith(others) and name != mine and name[:6] != "floors")
        return _compute(job, rank, size, lines, batch, advance, floors_only)


def _shard_name(rank: int, size: int) -> str:
    return f"{rank:04d}-of-{size:04d}.jsonl"


def _compute(
    job: Job, rank: int, size: int, lines: ShardLines, batch: int, advance: Advance, floors_only: bool = False
) -> Outcome:
    """Write what a part lacks into its own shards, floors first."""
    folder, chains, tasks = job.folder / earlier_results.FOLDER, job.share(rank, size), job.left[1]
    if floors_only:
        tasks = [tasks[place] for place in share([len(task.unrelated) for task in tasks], rank, size)]
    else:
        needed = {floor_place(chain)[1:] for chain in chains}
        tasks = [task for task in tasks if size == 1 or (task.reference.source, task.short_side) in needed]
    job.take_in(lines)
    worker = Worker(job, advance)
    with Shard(folder, f"floors-{_shard_name(rank, size)}") as shard:
        worker.compare_floors([task for task in tasks if job.lacking_floors(task)], shard)
    if not floors_only:
        job.take_in(lines)
        with Shard(folder, _shard_name(rank, size)) as shard:
            worker.score([chain for chain in chains if job.lacking(chain)], batch, job.floor_medians(), shard)
    outcome = Outcome(rank, worker.chains, worker.images, worker.seconds, absent=dict(job.metrics.absent))
    outcome.shares = worker.shares
    return outcome


@contextlib.contextmanager
def part_held(folder: Path, name: str) -> Iterator[None]:
    """Hold one part; another process that begins it waits and finds it done. A plain run is waited for."""
    with contextlib.ExitStack() as stack:
        with locked(folder, wait=True):
            stack.enter_context(locked(folder / HELD / name, wait=True))
        yield


@contextlib.contextmanager
def locked_for(job: Job) -> Iterator[None]:
    """Hold the lock of the shards' folder. Refused while a task writes its part, because its files would be lost."""
    folder = job.folder / earlier_results.FOLDER
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(folder))
        except Locked:
            raise UserError(f"{job.folder} is being scored by another process; wait for it") from None
        for part in sorted((folder / HELD).glob("*")):
            try:
                with locked(part):
                    pass
            except Locked:
                raise UserError(f"{job.folder} is being scored by task {part.name}; wait for it") from None
        yield


def clear(folder: Path) -> None:
    """Remove the shards, which are in the dataset's files by now."""
    for path in folder.glob("*.jsonl"):
        path.unlink()
    shutil.rmtree(folder / HELD, ignore_errors=True)


def finish(job: Job, outcome: Outcome) -> None:
    """Write the dataset's files from the results."""
    if any(map(job.lacking, job.chains)) or any(map(job.lacking_floors, job.tasks)):
        raise UserError("other processes left out their share; do all have the same weights and dtype?")
    medians, specs = job.floor_medians(), job.stored_specs()
    task_keys = {(task.reference.source, task.short_side): task.key for task in job.tasks}

    def rows() -> Iterator[dict[str, Any]]:
        for chain in sorted(job.chains, key=lambda chain: chain.chain.order):
            _, source, side = floor_place(chain)
            floors = medians.get(floor_place(chain), {})
            damaged = job.results.damaged.get(task_keys.get((source, side), ""), {})
            for row, values in table.chain_rows(chain, job.results, specs, job.metrics.absent, floors, damaged):
                damage = {value for value in values.values() if isinstance(value, Missing) and value.reason.damage}
                sentences = sorted(missing.sentence for missing in damage)
                outcome.damage += [f"chain {row['chain']}, step {row['step']}: {words}" for words in sentences]
                yield row

    outcome.damage += [f"source {name}: {how}" for name, how in sorted(damaged_sources(job).items())]
    outcome.rows = table.write_scores(job.folder, rows(), specs).rows
    outcome.pairs = table.write_floors(job.folder, table.floor_rows(job.tasks, job.results, job.metrics.specs)).rows


def damaged_sources(job: Job) -> dict[str, str]:
    """The sources that are damaged, and how: without them there are no floors, and nothing that rests on floors."""
    return {name: how for damaged in job.results.damaged.values() for name, how in damaged.items()}


def share(costs: Sequence[int], rank: int, size: int) -> list[int]:
    """The places of this process: consecutive, so that equal references stay together, and of about equal cost."""
    total, before, places = sum(costs), 0, []
    for place, cost in enumerate(costs):
        if total and min(int((before + cost / 2) * size / total), size - 1) == rank:
            places.append(place)
        before += cost
    return places
