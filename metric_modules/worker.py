"""One process's share of the work: threads that each take whole chains, with one thread of arithmetic each."""

import contextlib
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock
from typing import Any

from . import chain, edits, floors, threads
from .cases import Case
from .chain import UNREADABLE, Album
from .floors import Task
from .job import Job, floor_signature
from .measures import Measure, Values
from .networks import TOLERANCES
from .reading import Unreadable
from .shards import PULSE, Shard

MEMORY = 1_200_000_000  # bytes that the pictures at work may take together
WORK = 60  # bytes at work for each pixel of a picture
KEPT = 90  # bytes for each pixel of a reference
Advance = Callable[[int, str], None]
Scored = tuple[Case, list[Measure], dict[int, Values]]


@dataclass
class Worker:
    """What the threads share, and what they did."""

    job: Job
    shard: Shard
    advance: Advance
    chains: int = 0
    images: int = 0
    seconds: float = 0.0
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    references: "OrderedDict[tuple[str, object], chain.Known]" = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    def pair(self, tasks: Sequence[Task]) -> None:
        """Compare some references with what is unrelated to them."""

        def work(task: Task) -> tuple[Task, list[Measure], dict[str, Values]]:
            lacking = self.job.unpaired(task)
            with self.clock("floors"):
                return task, lacking, floors.compare(self.job.reader, task, lacking)

        for task, lacking, values in self.each(work, tasks, self.count):
            parts = {measure.name: floor_signature(measure) for measure in lacking}
            self.shard.add({"task": task.key, "parts": parts, "values": values})

    def score(self, cases: Sequence[Case], batch: int) -> None:
        """Score some chains, as many at once as there are cores and as memory allows."""
        started, count = time.monotonic(), self.count
        batch = max(1, min(batch, MEMORY // (WORK * self.pixels * count)))
        bottoms = self.job.bottoms()
        with ThreadPoolExecutor(count, initializer=threads.single) as decoders:
            album = Album(self.job.reader, self.job.copies_of, decoders, batch)

            def work(case: Case) -> Scored:
                return self.scored(case, bottoms.get(self.job.place(case), {}), album)

            for case, lacking, rows in self.each(work, cases, count):
                parts = {measure.name: measure.signature for measure in lacking}
                self.shard.add({"chain": case.id, "digest": case.digest, "parts": parts, "rows": rows})
                self.chains += 1
                self.images += len(rows)
                self.advance(len(rows), "")
        self.seconds = time.monotonic() - started

    def scored(self, case: Case, bottom: floors.Medians, album: Album) -> Scored:
        """One chain's values of the metrics it lacks."""
        lacking = self.job.lacking(case)
        try:
            known = self.reference(case)
        except Unreadable as error:
            row = {column: f"{UNREADABLE}the reference: {error}" for one in lacking for column in one.columns}
            return case, lacking, {shot.step: dict(row) for shot in case.steps if shot.scored}
        judge = self.job.panel.judge if any(measure.name == edits.NAME for measure in lacking) else None
        near = partial(floors.near, bottom, TOLERANCES)
        return case, lacking, chain.score(case, known, lacking, judge, near, album, self.clock)

    @cached_property
    def pixels(self) -> int:
        """Of the largest picture in the dataset."""
        return max((case.pixels for case in self.job.cases), default=1) or 1

    @property
    def count(self) -> int:
        """Threads: one for each core, as far as memory allows."""
        return max(1, min(threads.count(), MEMORY // ((WORK + KEPT) * self.pixels)))

    def reference(self, case: Case) -> chain.Known:
        """A chain's reference, worked out once for all chains that have it."""
        key = (case.reference, case.chain["short_side"])
        kept = min(self.count, MEMORY // (KEPT * self.pixels))
        with self.lock:
            if key not in self.references:
                while len(self.references) > kept:
                    self.references.popitem(last=False)
                self.references[key] = chain.reference(self.job.reader, case, self.job.copies_of(case))
            self.references.move_to_end(key)
            return self.references[key]

    def each(self, work: Callable[[Any], Any], items: Sequence[Any], count: int) -> Iterator[Any]:
        """What `work` gives for each item, as it comes; this process shows that it is alive meanwhile."""
        with threads.alone(), ThreadPoolExecutor(count, initializer=threads.single) as pool:
            waiting: set[Future[Any]] = set()
            left = list(reversed(items))
            try:
                while left or waiting:
                    while left and len(waiting) <= count:
                        waiting.add(pool.submit(work, left.pop()))
                    done, waiting = wait(waiting, PULSE, FIRST_COMPLETED)
                    self.shard.alive()
                    for future in done:
                        yield future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    @contextlib.contextmanager
    def clock(self, name: str) -> Iterator[None]:
        """Adds up where the time goes."""
        started = time.perf_counter()
        yield
        with self.lock:
            self.spent[name] += time.perf_counter() - started

    @property
    def shares(self) -> dict[str, float]:
        """Of the seconds at work, by metric."""
        total = sum(self.spent.values())
        return {name: spent / total for name, spent in sorted(self.spent.items(), key=lambda each: -each[1])}
