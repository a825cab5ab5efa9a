"""The scoring engine: all metrics in one pass over a dataset, on any number of processes.

Work is dealt in whole chains, so that the numbers cannot depend on how it is dealt; each process writes what it
finished to its own shard, and the first one makes the dataset's files of them.
"""

import contextlib
import json
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from functools import partial
from threading import Lock
from typing import Any

from . import chain, floors, shards, table, threads
from .cases import MISSING, Case
from .chain import NOT_A_NUMBER, UNREADABLE
from .floors import Task
from .job import Job, floor_signature, share
from .measures import Measure, Values
from .networks import TOLERANCE
from .panel import BUILT_IN, Unusable
from .reading import Unreadable
from .shards import Silent

__all__ = ["Outcome", "Silent", "Unusable", "run"]

MEMORY = 1_200_000_000  # bytes that the pictures at work may take together
WORK = 100  # bytes at work for each pixel of a picture
BATCH = 4
DAMAGE = (UNREADABLE, NOT_A_NUMBER, MISSING)
Advance = Callable[[int, str], None]


@dataclass
class Outcome:
    """What came of a run, in this process; the first process also knows of the whole."""

    rank: int = 0
    chains: int = 0  # scored by this process
    images: int = 0
    seconds: float = 0.0
    rows: int = 0  # in the dataset now; 0 in all processes but the first
    pairs: int = 0
    absent: dict[str, str] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)  # of the seconds at work, by metric

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def run(
    job: Job,
    rank: int = 0,
    size: int = 1,
    barrier: Callable[[], None] = lambda: None,
    batch: int = BATCH,
    advance: Advance = lambda count, words: None,
) -> Outcome:
    """Score what is lacking, and (in the first process) write the dataset's scores and floors."""
    outcome = Outcome(rank, absent=dict(job.panel.absent))
    folder = job.folder / shards.FOLDER
    folder.mkdir(exist_ok=True)
    if rank == 0 and shards.owned(folder):
        raise Unusable(f"{job.folder} is being scored by another process; wait for it")
    tail, running, current = shards.Tail(folder), set(range(size)), job.current

    def settled(lacking: Callable[[Any], list[Measure]], items: list[Any]) -> bool:
        for line in tail.new():
            if "ended" in line:
                running.discard(line["ended"])
            job.known.line(line, job.panel.columns, current)
        return not any(map(lacking, items))

    settled(job.lacking, [])
    job.known.forget_damage()
    running.update(range(size))
    barrier()  # all have seen what is left before anyone adds to it
    cases = [job.cases[place] for place in job.mine(rank, size)]
    tasks = [task for task in job.tasks if job.unpaired(task)]
    shard = shards.Shard(folder, rank)
    try:
        worker = Worker(job, shard, batch, outcome, advance)
        worker.pairs([tasks[place] for place in share([len(task.others) for task in tasks], rank, size)])
        shards.wait(folder, size, partial(settled, job.unpaired, job.tasks), running, shard)
        worker.chains(cases)
        shard.add({"ended": rank})
        if rank == 0:
            shards.wait(folder, size, partial(settled, job.lacking, job.cases), running, shard)
            finish(job, outcome)
    finally:
        shard.close()
    if rank == 0:
        shards.clear(folder)
    return outcome


class Worker:
    """This process's share of the work: threads that each take whole chains, with one thread of arithmetic each.

    Sums are made in the same order whatever the number of cores, and no core waits for another.
    """

    def __init__(self, job: Job, shard: shards.Shard, batch: int, outcome: Outcome, advance: Advance):
        self.job, self.shard, self.outcome, self.advance = job, shard, outcome, advance
        self.batch = batch
        self.references: OrderedDict[tuple[str, object], chain.Known] = OrderedDict()
        self.lock = Lock()
        self.spent: dict[str, float] = defaultdict(float)

    def pairs(self, tasks: list[Task]) -> None:
        """The floors of some references."""

        def work(task: Task) -> tuple[Task, list[Measure], dict[str, Values]]:
            lacking = self.job.unpaired(task)
            with self.clock("floors"):
                return task, lacking, floors.compare(self.job.reader, task, lacking)

        for task, lacking, values in self.each(work, tasks, threads.count()):
            parts = {measure.name: floor_signature(measure) for measure in lacking}
            self.shard.add({"task": task.key, "parts": parts, "values": values})

    def chains(self, cases: list[Case]) -> None:
        """The scores of some chains."""
        started = time.monotonic()
        largest = max((case.pixels for case in cases), default=1)
        count = max(1, min(threads.count(), MEMORY // (WORK * largest)))
        batch = max(1, min(self.batch, MEMORY // (WORK * largest * count)))
        suites = floors.members(self.job.cases)
        medians: dict[tuple[str, str, int | None], dict[str, float]] = {}
        for task in self.job.tasks:
            values = all_values(self.job, task)
            for suite, members in suites.items():
                medians[suite, task.reference.source, task.short_side] = floors.medians(values, members)
        with ThreadPoolExecutor(count, initializer=threads.single) as decoders:

            def work(case: Case) -> tuple[Case, list[Measure], dict[int, Values]]:
                lacking = self.job.lacking(case)
                known = medians.get((case.chain["suite"], case.chain["source"], floors.short_side(case)), {})
                near = partial(floors.near, known, TOLERANCE)
                try:
                    reference = self.reference(case, count)
                except Unreadable as error:
                    reason = f"{UNREADABLE}the reference: {error}"
                    row = {column: reason for measure in lacking for column in measure.columns}
                    return case, lacking, {shot.step: dict(row) for shot in case.steps if shot.scored}
                judging = any(measure.name == "edit_applied" for measure in lacking)
                read = self.job.reader, decoders, batch
                return case, lacking, chain.score(case, reference, lacking, judging, near, *read, self.clock)

            for case, lacking, rows in self.each(work, cases, count):
                parts = {measure.name: measure.signature for measure in lacking}
                self.shard.add({"chain": case.id, "digest": case.digest, "parts": parts, "rows": rows})
                self.outcome.chains += 1
                self.outcome.images += len(rows)
                self.advance(len(rows), "")
        self.outcome.seconds = time.monotonic() - started
        total = sum(self.spent.values())
        self.outcome.shares = {
            name: seconds / total for name, seconds in sorted(self.spent.items(), key=lambda each: -each[1])
        }

    def each(self, work: Callable[[Any], Any], items: list[Any], count: int) -> Iterator[Any]:
        """What `work` gives for each item, as it comes; this process shows that it is alive meanwhile."""
        with threads.alone(), ThreadPoolExecutor(count, initializer=threads.single) as pool:
            waiting: set[Future[Any]] = set()
            left = iter(items)
            try:
                while True:
                    for item in left:
                        waiting.add(pool.submit(work, item))
                        if len(waiting) > count:
                            break
                    if not waiting:
                        return
                    done, waiting = wait(waiting, shards.PULSE, FIRST_COMPLETED)
                    self.shard.alive()
                    for future in done:
                        yield future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def reference(self, case: Case, count: int) -> chain.Known:
        """A chain's reference, worked out once for all chains that have it."""
        key = (case.reference, case.chain["short_side"])
        with self.lock:
            if key not in self.references:
                self.references[key] = chain.reference(self.job.reader, case)
                while len(self.references) > count + 1:
                    self.references.popitem(last=False)
            self.references.move_to_end(key)
            return self.references[key]

    @contextlib.contextmanager
    def clock(self, name: str) -> Iterator[None]:
        """Adds up where the time goes."""
        started = time.perf_counter()
        yield
        with self.lock:
            self.spent[name] += time.perf_counter() - started


def all_values(job: Job, task: Task) -> dict[str, Values]:
    """Every metric's values for a task's unrelated sources."""
    found: dict[str, Values] = {}
    for name in job.panel.columns:
        for other, row in job.known.floors.get((task.key, name), ("", {}))[1].items():
            found.setdefault(other, {}).update(row)
    return found


def finish(job: Job, outcome: Outcome) -> None:
    """Make the dataset's files of what is known."""
    suites = floors.members(job.cases)
    tasks = {(task.reference.source, task.short_side): task for task in job.tasks}
    added = [name for metric, own in job.panel.columns.items() for name in own if metric not in BUILT_IN]

    def every() -> Iterator[dict[str, Any]]:
        for case in sorted(job.cases, key=lambda case: case.order):
            task = tasks.get((case.chain["source"], floors.short_side(case) or 0))
            bottom = floors.medians(all_values(job, task), suites[case.chain["suite"]]) if task else {}
            for row in table.rows(case, job.known, job.heads[case.id], job.panel.columns, job.panel.absent, bottom):
                reasons = [why for why in set(row["reasons"].values()) if why.startswith(DAMAGE)]
                outcome.damage += [f"chain {case.id}, step {row['step']}: {why}" for why in sorted(reasons)]
                yield row | {"reasons": json.dumps(row["reasons"], sort_keys=True, ensure_ascii=False)}

    outcome.rows = table.write_scores(job.folder, added, every()).rows
    outcome.pairs = table.write_floors(job.folder, job.tasks, job.known, job.panel.columns).rows
