"""All metrics in one pass over a dataset, on any number of processes.

Work is shared in whole chains, so that no number depends on how it is shared.
Each process writes what it finished to its own shards; the processes wait for
each other at barriers, and the first one writes the dataset's files. If a process
dies, accelerate ends all of them, and the same command resumes from the shards.
"""

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from convergebench.dataset_builder.dataset.manifest import no_dataset
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import BUILT, FLOORS, STEPS
from convergebench.dataset_builder.dataset.schema import write
from convergebench.generation.files import Locked, locked
from convergebench.generation.records import Json, UserError

from ..scores import Missing, scores_config
from ..specs import Spec, scored_specs
from . import metrics
from .chains import DatasetChain, find_chains
from .floors import FloorPlace, FloorTask, Medians, floor_medians, floor_place, plan_floors, suite_sources
from .metrics import MetricRun
from .results import FOLDER, Results, add_line, chain_rows, floor_rows, new_lines, open_shard, read_results
from .worker import compare_floors, score_chains

BATCH = 4
GPU_BATCH = 32  # a whole chain of v1, all of whose pictures have one size
MADE = ("scores", "floors")  # the tables that scoring makes
_HELD = ".held"  # in the folder of the shards: a lock for each task
_Advance = Callable[[int, str], None]
_Work = tuple[list[DatasetChain], list[FloorTask]]


@dataclass
class Job:
    """A dataset, the requested metrics, and the results so far."""

    folder: Path
    reader: Reader
    chains: list[DatasetChain]
    runs: Sequence[MetricRun]
    absent: dict[str, str]  # by metric: why it cannot be computed here
    tasks: list[FloorTask]
    results: Results = field(default_factory=Results)
    unfinished: _Work = ([], [])  # what the files lack, whatever the shards hold
    offsets: dict[Path, int] = field(default_factory=dict)  # up to which the shards were read

    def lacking(self, chain: DatasetChain) -> list[MetricRun]:
        parts = self.results.parts.get(chain.chain.id, {})
        return [run for run in self.runs if parts.get(run.name) != run.signature] if chain.images else []

    def lacking_floors(self, task: FloorTask) -> list[MetricRun]:
        key, floors = task.key, self.results.floors
        runs = [run for run in self.runs if run.spec.floors]
        return [run for run in runs if floors.get((key, run.name), (None,))[0] != run.floor_signature]

    def stored_specs(self) -> dict[str, Spec]:
        """The metrics with columns; an optional one needs results."""
        computed = {name for parts in self.results.parts.values() for name in parts}
        return {name: spec for name, spec in scored_specs().items() if not spec.optional or name in computed}

    def part(self, rank: int, size: int) -> _Work:
        """One part's unfinished chains with their floors; the first also has floors without chains."""
        all_chains, tasks = self.unfinished
        chains = [all_chains[index] for index in _share([chain.cost for chain in all_chains], rank, size)]
        needed, needed_by_all = ({floor_place(chain)[1:] for chain in some} for some in (chains, all_chains))
        floors = [
            task for task in tasks if task.place in needed or (rank == 0 and task.place not in needed_by_all)
        ]
        return chains, floors

    def _take_in(self, shard: str = "") -> None:
        """Add finished work from the shards; the process of one part skips the other parts."""
        digests = {chain.chain.id: chain.digest for chain in self.chains}
        paths = sorted((self.folder / FOLDER).glob("*.jsonl"))
        read = [path for path in paths if not shard or path.name == shard or path.name[4:] != shard[4:]]
        for line, load in new_lines(read, self.offsets):
            if "task" in line or digests.get(line["chain"]) == line["digest"]:
                self.results.add(line, load)

    def floor_medians(self) -> dict[FloorPlace, Medians]:
        medians: dict[FloorPlace, Medians] = {}
        suites = suite_sources(self.chains)
        for task in self.tasks:
            pairs = self.results.pairs(task)
            for suite, sources in suites.items() if pairs else ():
                medians[suite, *task.place] = floor_medians(pairs, sources)
        return medians


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
    folder: Path, requested: Sequence[str] | None = None, device: str | None = None, dtype: str | None = None
) -> Job:
    reader = Reader(folder, makes=MADE)
    if not reader.files("chains"):
        raise no_dataset(folder)
    # Of the steps, what is missing leaves rows that say so.
    reader.refuse_unfinished(only=[table.name for table in BUILT if table != STEPS])
    runs, absent = metrics.choose(requested, device, dtype)
    if requested is not None:
        metrics.refuse_absent(absent)
    chains = find_chains(reader)
    tasks = plan_floors(reader, chains)
    job = Job(folder, reader, chains, runs, absent, tasks, read_results(reader, chains, tasks))
    job.results.forget_damage()
    job.unfinished = [chain for chain in chains if job.lacking(chain)], list(filter(job.lacking_floors, tasks))
    return job


def run(
    job: Job,
    rank: int = 0,
    size: int = 1,
    barrier: Callable[[], None] = lambda: None,
    batch: int = BATCH,
    advance: _Advance = lambda count, words: None,
) -> Outcome:
    """Score what is missing, with other processes; the first one writes."""
    with _locked_for(job) if rank == 0 else contextlib.nullcontext():
        barrier()  # another launch may still be writing the folder
        job._take_in()
        job.results.forget_damage()  # it may have been repaired since
        barrier()  # all have read the shards of earlier launches before anyone adds to them
        outcome = _compute(job, rank, size, batch, advance)
        barrier()
        if rank == 0:
            job._take_in()
            _finish(job, outcome)
    return outcome


def run_part(
    job: Job, rank: int, size: int, batch: int = BATCH, advance: _Advance = lambda count, words: None
) -> Outcome:
    """Compute one part independently of the others: its chains with their floors."""
    with _part_held(job.folder / FOLDER, f"{rank:04d}"):
        return _compute(job, rank, size, batch, advance, is_alone=True)


def _compute(job: Job, rank: int, size: int, batch: int, advance: _Advance, is_alone: bool = False) -> Outcome:
    (chains, tasks), outcome = job.part(rank, size), Outcome(rank, absent=dict(job.absent))
    name = f"{rank:04d}-of-{size:04d}.jsonl"
    skipping = name if is_alone else ""
    job._take_in(skipping)
    with open_shard(job.folder / FOLDER, name) as shard:
        for line in compare_floors(job, list(filter(job.lacking_floors, tasks))):
            add_line(shard, line)
        job._take_in(skipping)
        started = time.monotonic()
        for line in score_chains(job, list(filter(job.lacking, chains)), batch, job.floor_medians()):
            add_line(shard, line)
            outcome.chains += 1
            outcome.images += len(line["rows"])
            advance(len(line["rows"]), "")
        outcome.seconds = time.monotonic() - started
    return outcome


@contextlib.contextmanager
def _part_held(folder: Path, name: str) -> Iterator[None]:
    """Lock one part, once no plain run holds the folder."""
    with contextlib.ExitStack() as stack:
        with locked(folder, wait=True):
            stack.enter_context(locked(folder / _HELD / name, wait=True))
        yield


@contextlib.contextmanager
def _locked_for(job: Job) -> Iterator[None]:
    """Lock the folder; UserError while another process or task holds it."""
    folder = job.folder / FOLDER
    holder = "another process"
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(folder))
            for part in sorted((folder / _HELD).glob("*")):
                holder = f"task {part.name}"
                with locked(part):
                    pass
        except Locked:
            raise UserError(f"{job.folder} is being scored by {holder}; wait for it") from None
        yield
    with contextlib.suppress(OSError):
        folder.rmdir()


def _finish(job: Job, outcome: Outcome) -> None:
    """Write the files, and remove the shards, which are superfluous then."""
    if any(map(job.lacking, job.chains)) or any(map(job.lacking_floors, job.tasks)):
        raise UserError("other processes did not compute their share; do all have the same weights and dtype?")
    specs = job.stored_specs()
    rows = _score_rows(job, specs, outcome.damage)
    outcome.rows = write(job.folder / "data/scores/0000.parquet", scores_config(specs), rows, job.folder)[0]
    floors = floor_rows(job.tasks, job.results)
    outcome.pairs = write(job.folder / "data/floors/0000.parquet", FLOORS, floors, job.folder)[0]
    for path in (job.folder / FOLDER).glob("*.jsonl"):
        path.unlink()
    shutil.rmtree(job.folder / FOLDER / _HELD, ignore_errors=True)


def _score_rows(job: Job, specs: Mapping[str, Spec], damage: list[str]) -> Iterator[Json]:
    """The rows of the scores; what they say of damaged pictures is added to `damage`."""
    medians = job.floor_medians()
    for chain in sorted(job.chains, key=lambda chain: chain.chain.order):
        floors = medians.get(floor_place(chain), {})
        for row, values in chain_rows(chain, job.results, specs, job.absent, floors):
            missing = {value for value in values.values() if isinstance(value, Missing)}
            sentences = sorted(value.sentence for value in missing if value.is_damage)
            damage += [f"chain {row['chain']}, step {row['step']}: {sentence}" for sentence in sentences]
            yield row


def _share(costs: Sequence[int], rank: int, size: int) -> list[int]:
    """One share of the indices: consecutive, and of about equal cost."""
    total, before, indices = sum(costs), 0, []
    for index, cost in enumerate(costs):
        if total and min(int((before + cost / 2) * size / total), size - 1) == rank:
            indices.append(index)
        before += cost
    return indices
