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

import numpy

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
Measures = list[Measure]
Scored = tuple[Case, Measures, dict[int, Values]]


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
        for turn in self.turns:
            self.release()

            def work(task: Task, turn: Measures = turn) -> tuple[Task, Measures, dict[str, Values]]:
                lacking = [measure for measure in self.job.unpaired(task) if measure in turn]
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
            for turn in self.turns:
                self.release()
                self.load(turn)

                def work(case: Case, turn: Measures = turn) -> Scored:
                    lacking = [measure for measure in self.job.lacking(case) if measure in turn]
                    return self.scored(case, lacking, bottoms.get(self.job.place(case), {}), album)

                for case, lacking, rows in self.each(work, cases, count):
                    parts = {measure.name: measure.signature for measure in lacking}
                    self.shard.add({"chain": case.id, "digest": case.digest, "parts": parts, "rows": rows})
                    if turn is self.turns[-1]:
                        self.chains += 1
                        self.images += len(rows)
                        self.advance(len(rows), "")
        self.seconds = time.monotonic() - started

    def scored(self, case: Case, lacking: Measures, bottom: floors.Medians, album: Album) -> Scored:
        """One chain's values of these metrics."""
        try:
            known = self.reference(case)
        except Unreadable as error:
            row = {column: f"{UNREADABLE}the reference: {error}" for one in lacking for column in one.columns}
            return case, lacking, {shot.step: dict(row) for shot in case.steps if shot.scored}
        judge = self.job.panel.judge if any(measure.name == edits.NAME for measure in lacking) else None
        near = partial(floors.near, bottom, TOLERANCES)
        return case, lacking, chain.score(case, known, lacking, judge, near, album, self.clock)

    @cached_property
    def turns(self) -> list[Measures]:
        """The metrics that run together: all, but beside large pictures those with large weights by themselves."""
        every = list(self.job.panel.measures)
        if self.pixels * 3 <= chain.LARGE:
            return [every]
        heavy, light = ([one for one in every if bool(one.release) is wanted] for wanted in (True, False))
        return [turn for turn in (heavy, light) if turn]

    def release(self) -> None:
        """Let large weights go, where metrics take turns."""
        for measure in self.job.panel.measures if len(self.turns) > 1 else ():
            for one in filter(None, (measure, measure.exact)):
                if one.release:
                    one.release()

    def load(self, turn: Measures) -> None:
        """Large weights come before the pictures: while they are read they take three times their room."""
        for measure in turn if len(self.turns) > 1 else ():
            if measure.release:
                measure.prepare(numpy.zeros((64, 64, 3), numpy.uint8))

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
