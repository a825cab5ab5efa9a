"""One process: threads that take whole chains, each with one core.

Results do not depend on the number of cores, because whatever a thread calls computes in that thread alone.
"""

import contextlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property, partial
from io import FileIO
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from convergebench.generation.cluster import cores
from convergebench.generation.pictures import Undecodable

from ..scores import Missing, Values
from .chains import DatasetChain, read_reference
from .floors import FloorPlace, FloorTask, Medians, compare_unrelated, floor_place, is_near_threshold
from .metrics import MetricRun, torch_if_installed
from .results import add_line
from .score_chain import PictureReader, Reference, score_chain

if TYPE_CHECKING:
    from .engine import Job

# tests/benchmarks/scoring.py measures what a process takes with these figures.
_WORK_BYTES = 60  # for each pixel of a picture that is being scored
_REFERENCE_BYTES = 90  # for each pixel of a cached reference
_MEMORY = 1_200_000_000  # bytes for all pictures that are being scored at once
_GPU_MEMORY = 16_000_000_000  # the same on a machine with a GPU, which needs whole chains at once
Advance = Callable[[int, str], None]
_Runs = list[MetricRun]
Item = TypeVar("Item")
Result = TypeVar("Result")


def _count_cores() -> int:
    return max(1, cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def _use_one_thread() -> None:
    import cv2

    if torch := torch_if_installed():
        torch.set_num_threads(1)
    cv2.setNumThreads(1)


@contextlib.contextmanager
def _library_threads_restored() -> Iterator[None]:
    import cv2

    torch = torch_if_installed()
    torch_threads, cv2_threads = torch.get_num_threads() if torch else 0, cv2.getNumThreads()
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(torch_threads)
        cv2.setNumThreads(cv2_threads)


@dataclass
class Worker:
    """What the threads share, and how much they have done."""

    job: "Job"
    advance: Advance
    chains: int = 0
    images: int = 0
    seconds: float = 0.0
    references: "OrderedDict[tuple[str, int | None], Reference]" = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    def compare_floors(self, tasks: Sequence[FloorTask], shard: FileIO) -> None:
        """Compare some references with the pictures that are unrelated to them."""

        def work(task: FloorTask) -> tuple[FloorTask, _Runs, dict[str, Values]]:
            lacking = self.job.lacking_floors(task)
            return task, lacking, compare_unrelated(self.job.reader, task, lacking)

        for task, lacking, values in self._in_threads(work, tasks):
            parts = {run.name: run.floor_signature for run in lacking}
            add_line(shard, {"task": task.key, "parts": parts, "values": values})

    def score(
        self, chains: Sequence[DatasetChain], batch: int, medians: Mapping[FloorPlace, Medians], shard: FileIO
    ) -> None:
        """Score chains, as many at once as cores and memory allow."""
        started = time.monotonic()
        batch = max(1, min(batch, self._memory // (_WORK_BYTES * self._pixels * self._threads)))
        with ThreadPoolExecutor(self._threads, initializer=_use_one_thread) as decoders:
            pictures = PictureReader(self.job.reader, self.job.input_copies, decoders, batch)

            def work(chain: DatasetChain) -> tuple[DatasetChain, _Runs, dict[int, Values]]:
                lacking = self.job.lacking(chain)
                return chain, lacking, self._values(chain, lacking, medians.get(floor_place(chain), {}), pictures)

            for chain, lacking, rows in self._in_threads(work, chains):
                parts = {run.name: run.signature for run in lacking}
                add_line(shard, {"chain": chain.chain.id, "digest": chain.digest, "parts": parts, "rows": rows})
                self.chains += 1
                self.images += len(rows)
                self.advance(len(rows), "")
        self.seconds = time.monotonic() - started

    def _values(
        self, chain: DatasetChain, lacking: _Runs, medians: Medians, pictures: PictureReader
    ) -> dict[int, Values]:
        try:
            reference = self._reference(chain)
        except Undecodable as error:
            missing = Missing("unreadable", f"the reference: {error}")
            columns = [column for run in lacking for column in run.spec.names]
            return {placed.step.step: dict.fromkeys(columns, missing) for placed in chain.scored_steps}
        columns_by_name = {column.name: column for run in lacking for column in run.spec.columns}
        is_near = partial(is_near_threshold, columns_by_name, medians)
        return score_chain(chain, reference, lacking, is_near, pictures)

    @cached_property
    def _pixels(self) -> int:
        return max((chain.pixels for chain in self.job.chains), default=1) or 1

    @property
    def _memory(self) -> int:
        devices = {str(getattr(run.scorer, "device", "cpu")) for run in self.job.metrics.runs}
        return _MEMORY if devices == {"cpu"} else _GPU_MEMORY

    @property
    def _threads(self) -> int:
        return max(1, min(_count_cores(), self._memory // ((_WORK_BYTES + _REFERENCE_BYTES) * self._pixels)))

    def _reference(self, chain: DatasetChain) -> Reference:
        key = (chain.reference, chain.short_side)
        most = min(self._threads, self._memory // (_REFERENCE_BYTES * self._pixels))
        with self.lock:
            if key not in self.references:
                while len(self.references) > most:
                    self.references.popitem(last=False)
                picture = read_reference(self.job.reader, chain, self.job.input_copies(chain))
                self.references[key] = Reference.at_evaluation_size(picture, chain.short_side)
            self.references.move_to_end(key)
            return self.references[key]

    def _in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        threads = self._threads
        with _library_threads_restored(), ThreadPoolExecutor(threads, initializer=_use_one_thread) as pool:
            waiting: set[Future[Result]] = set()
            queue = list(reversed(items))
            try:
                while queue or waiting:
                    while queue and len(waiting) <= threads:
                        waiting.add(pool.submit(work, queue.pop()))
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
            finally:
                pool.shutdown(cancel_futures=True)
