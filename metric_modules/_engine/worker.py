"""One process's share of the work: threads that each take whole chains, with one thread of arithmetic each.

Results do not depend on the number of cores, because whatever a thread calls computes in that thread alone.
"""

import contextlib
import os
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from convergebench.generation.processes import cores

from ..scores import Missing, Values
from . import score_chain
from .chains import DatasetChain, Unreadable, read_reference
from .earlier_results import Shard
from .floors import FloorPlace, FloorTask, Medians, compare_unrelated, floor_place, is_near_threshold
from .metrics import MetricRun, torch_if_installed
from .score_chain import PictureReader, Reference

if TYPE_CHECKING:
    from .engine import Job

MEMORY = 1_200_000_000  # bytes that the pictures at work may take together
GPU_MEMORY = 16_000_000_000  # the same on a machine with a GPU, which wants whole chains at once
WORK = 60  # bytes at work for each pixel of a picture
REFERENCE = 90  # bytes for each pixel of a reference that is kept
Advance = Callable[[int, str], None]
Runs = list[MetricRun]


def count_cores() -> int:
    """The cores that this process may keep busy, when the machine is shared with others of the same launch."""
    return max(1, cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def use_one_thread() -> None:
    """At the start of a worker thread: what it calls computes in this thread alone."""
    import cv2

    if torch := torch_if_installed():
        torch.set_num_threads(1)
    cv2.setNumThreads(1)


@contextlib.contextmanager
def library_threads_restored() -> Iterator[None]:
    """Around the work: afterwards libraries use as many threads as before."""
    import cv2

    torch = torch_if_installed()
    before = torch.get_num_threads() if torch else 0, cv2.getNumThreads()
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(before[0])
        cv2.setNumThreads(before[1])


@dataclass
class Worker:
    """What the threads share, and what they did."""

    job: "Job"
    advance: Advance
    chains: int = 0
    images: int = 0
    seconds: float = 0.0
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    references: "OrderedDict[tuple[str, int | None], Reference]" = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    def compare_floors(self, tasks: Sequence[FloorTask], shard: Shard) -> None:
        """Compare some references with what is unrelated to them."""
        for turn in self.turns:
            self.release_weights()

            def work(task: FloorTask, turn: Runs = turn) -> tuple[FloorTask, Runs, dict[str, Values], dict[str, str]]:
                lacking = [run for run in self.job.lacking_floors(task) if run in turn]
                with self.clock("floors"):
                    return task, lacking, *compare_unrelated(self.job.reader, task, lacking)

            for task, lacking, values, damaged in self.in_threads(work, tasks, self.threads):
                parts = {run.name: run.floor_signature for run in lacking}
                shard.add({"task": task.key, "parts": parts, "values": values, "damaged": damaged})

    def score(
        self, chains: Sequence[DatasetChain], batch: int, medians: Mapping[FloorPlace, Medians], shard: Shard
    ) -> None:
        """Score some chains, as many at once as there are cores and as memory allows."""
        started, threads = time.monotonic(), self.threads
        batch = max(1, min(batch, self.memory // (WORK * self.pixels * threads)))
        with ThreadPoolExecutor(threads, initializer=use_one_thread) as decoders:
            pictures = PictureReader(self.job.reader, self.job.input_copies, decoders, batch)
            for turn in self.turns:
                self.release_weights()
                self.load_weights(turn)

                def work(chain: DatasetChain, turn: Runs = turn) -> tuple[DatasetChain, Runs, dict[int, Values]]:
                    lacking = [run for run in self.job.lacking(chain) if run in turn]
                    return chain, lacking, self.values(chain, lacking, medians.get(floor_place(chain), {}), pictures)

                for chain, lacking, rows in self.in_threads(work, chains, threads):
                    parts = {run.name: run.signature for run in lacking}
                    shard.add({"chain": chain.chain.id, "digest": chain.digest, "parts": parts, "rows": rows})
                    if turn is self.turns[-1]:
                        self.chains += 1
                        self.images += len(rows)
                        self.advance(len(rows), "")
        self.seconds = time.monotonic() - started

    def values(
        self, chain: DatasetChain, lacking: Runs, medians: Medians, pictures: PictureReader
    ) -> dict[int, Values]:
        """One chain's values of these metrics."""
        try:
            reference = self.reference(chain)
        except Unreadable as error:
            missing = Missing("unreadable", f"the reference: {error}")
            columns = [column for run in lacking for column in run.spec.names]
            return {placed.step.step: dict.fromkeys(columns, missing) for placed in chain.scored_steps}
        columns_by_name = {column.name: column for run in lacking for column in run.spec.columns}
        is_near = partial(is_near_threshold, columns_by_name, medians)
        return score_chain.score_chain(chain, reference, lacking, is_near, pictures, self.clock)

    @cached_property
    def turns(self) -> list[Runs]:
        """The metrics that run together: all, but beside large pictures those with large weights by themselves."""
        runs = list(self.job.metrics.runs)
        if self.pixels * 3 <= score_chain.LARGE:
            return [runs]
        heavy, light = ([run for run in runs if run.is_heavy is wanted] for wanted in (True, False))
        return [turn for turn in (heavy, light) if turn]

    def release_weights(self) -> None:
        """Let large weights go, where metrics take turns."""
        for run in self.job.metrics.runs if len(self.turns) > 1 else ():
            run.release()

    def load_weights(self, turn: Runs) -> None:
        """Large weights come before the pictures: while they are read they take three times their room."""
        for run in turn if len(self.turns) > 1 else ():
            if run.is_heavy and run.spec.kind == "picture":
                run.scorer.prepare(np.zeros((64, 64, 3), np.uint8))

    @cached_property
    def pixels(self) -> int:
        """Of the largest picture in the dataset."""
        return max((chain.pixels for chain in self.job.chains), default=1) or 1

    @property
    def memory(self) -> int:
        """Bytes that the pictures at work may take together."""
        devices = {str(getattr(run.scorer, "device", "cpu")) for run in self.job.metrics.runs}
        return MEMORY if devices == {"cpu"} else GPU_MEMORY

    @property
    def threads(self) -> int:
        """One for each core, as far as memory allows."""
        return max(1, min(count_cores(), self.memory // ((WORK + REFERENCE) * self.pixels)))

    def reference(self, chain: DatasetChain) -> Reference:
        """A chain's reference, prepared once for all chains that have it."""
        key = (chain.reference, chain.short_side)
        most = min(self.threads, self.memory // (REFERENCE * self.pixels))
        with self.lock:
            if key not in self.references:
                while len(self.references) > most:
                    self.references.popitem(last=False)
                picture = read_reference(self.job.reader, chain, self.job.input_copies(chain))
                self.references[key] = Reference.at_evaluation_size(picture, chain.short_side)
            self.references.move_to_end(key)
            return self.references[key]

    def in_threads(self, work: Callable[[Any], Any], items: Sequence[Any], threads: int) -> Iterator[Any]:
        """What `work` returns for each item, as it is finished."""
        with library_threads_restored(), ThreadPoolExecutor(threads, initializer=use_one_thread) as pool:
            waiting: set[Future[Any]] = set()
            left = list(reversed(items))
            try:
                while left or waiting:
                    while left and len(waiting) <= threads:
                        waiting.add(pool.submit(work, left.pop()))
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    @contextlib.contextmanager
    def clock(self, name: str) -> Iterator[None]:
        """Add up where the time goes."""
        started = time.perf_counter()
        yield
        with self.lock:
            self.spent[name] += time.perf_counter() - started

    @property
    def shares(self) -> dict[str, float]:
        """Of the seconds at work, by metric."""
        total = sum(self.spent.values())
        return {name: spent / total for name, spent in sorted(self.spent.items(), key=lambda each: -each[1])}
