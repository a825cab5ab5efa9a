"""The scoring engine: all metrics in one pass over a dataset, on any number of processes.

Work is dealt in whole chains, so that the numbers cannot depend on how it is dealt; each process writes what it
finished to its own shard, and the first one makes the dataset's files of them.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from . import shards, table
from .cases import MISSING
from .chain import NOT_A_NUMBER, UNREADABLE
from .job import Job, share
from .measures import Measure
from .panel import BUILT_IN, Unusable
from .shards import Silent
from .worker import Advance, Worker

__all__ = ["BATCH", "Outcome", "Silent", "Unusable", "run"]

BATCH = 4
DAMAGE = (UNREADABLE, NOT_A_NUMBER, MISSING)


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
    running.update(range(size))
    job.known.forget_damage()
    cases = [job.cases[place] for place in job.mine(rank, size)]
    tasks = [task for task in job.tasks if job.unpaired(task)]
    tasks = [tasks[place] for place in share([len(task.others) for task in tasks], rank, size)]
    barrier()  # all have seen what is left before anyone adds to it
    shard = shards.Shard(folder, rank)
    worker = Worker(job, shard, advance)
    try:
        worker.pair(tasks)
        shards.wait(folder, size, partial(settled, job.unpaired, job.tasks), running, shard)
        worker.score(cases, batch)
        shard.add({"ended": rank})
        outcome = Outcome(rank, worker.chains, worker.images, worker.seconds, absent=dict(job.panel.absent))
        outcome.shares = worker.shares
        if rank == 0:
            shards.wait(folder, size, partial(settled, job.lacking, job.cases), running, shard)
            finish(job, outcome)
            shards.wait(folder, size, lambda: settled(job.lacking, []) and running <= {0}, running, shard)
            shards.clear(folder)
    finally:
        shard.close()
    return outcome


def finish(job: Job, outcome: Outcome) -> None:
    """Make the dataset's files of what is known."""
    added = [name for metric, own in job.panel.columns.items() for name in own if metric not in BUILT_IN]
    bottoms = job.bottoms()

    def every() -> Iterator[dict[str, Any]]:
        for case in sorted(job.cases, key=lambda case: case.order):
            bottom = bottoms.get(job.place(case), {})
            for row in table.rows(case, job.known, job.heads[case.id], job.panel.columns, job.panel.absent, bottom):
                reasons = {why for why in row["reasons"].values() if why.startswith(DAMAGE)}
                outcome.damage += [f"chain {case.id}, step {row['step']}: {why}" for why in sorted(reasons)]
                yield row | {"reasons": json.dumps(row["reasons"], sort_keys=True, ensure_ascii=False)}

    outcome.rows = table.write_scores(job.folder, added, every()).rows
    outcome.pairs = table.write_floors(job.folder, job.tasks, job.known, job.panel.columns).rows
