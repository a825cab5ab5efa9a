"""Scores chains and floors in threads: each takes one whole chain at a time and uses one core.

Results do not depend on the number of cores, because whatever a thread calls computes in that thread alone.
"""

import contextlib
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from convergebench.generation.pictures import Undecodable
from convergebench.generation.shares import cores

from ..scores import Missing, Values
from .chains import DatasetChain, read_reference
from .floors import FloorPlace, FloorTask, Medians, compare_unrelated, floor_place, is_near_threshold
from .metrics import torch_if_installed
from .results import Line
from .score_chain import Reference, score_chain

if TYPE_CHECKING:
    from .engine import Job

# tests/benchmarks/scoring.py measures what a process takes with these figures.
_WORK_BYTES = 60  # for each pixel of a picture that is being scored
_REFERENCE_BYTES = 90  # for each pixel of a cached reference
_MEMORY = 1_200_000_000  # bytes for all pictures that are being scored at once
_GPU_MEMORY = 16_000_000_000  # the same on a machine with a GPU, which needs whole chains at once
_Item = TypeVar("_Item")


def compare_floors(job: "Job", tasks: Sequence[FloorTask]) -> Iterator[Line]:
    def work(task: FloorTask) -> Line:
        lacking = job.lacking_floors(task)
        parts = {run.name: run.floor_signature for run in lacking}
        return {"task": task.key, "parts": parts, "values": compare_unrelated(job.reader, task, lacking)}

    return _in_threads(work, tasks, _limits(job)[0])


def score_chains(
    job: "Job", chains: Sequence[DatasetChain], batch: int, medians: Mapping[FloorPlace, Medians]
) -> Iterator[Line]:
    """Score chains, as many at once as cores and memory allow."""
    threads, most_pictures, most_references = _limits(job)
    batch = max(1, min(batch, most_pictures // threads))
    references: OrderedDict[tuple[str, int | None], Reference] = OrderedDict()
    lock = Lock()

    def reference_of(chain: DatasetChain) -> Reference:
        key = (chain.reference, chain.chain.short_side)
        with lock:
            if key not in references:
                while len(references) > most_references:
                    references.popitem(last=False)
                references[key] = Reference(read_reference(job.reader.picture_at, chain), chain.chain.short_side)
            references.move_to_end(key)
            return references[key]

    with ThreadPoolExecutor(threads, initializer=_use_one_thread) as decoders:
        work = partial(_scored_line, job, medians, reference_of, decoders, batch)
        yield from _in_threads(work, chains, threads)


def _scored_line(
    job: "Job",
    medians: Mapping[FloorPlace, Medians],
    reference_of: Callable[[DatasetChain], Reference],
    decoders: Executor,
    batch: int,
    chain: DatasetChain,
) -> Line:
    lacking, floors = job.lacking(chain), medians.get(floor_place(chain), {})
    columns = {column.name: column for run in lacking for column in run.spec.columns}
    rows: dict[int, Values]
    try:
        reference = reference_of(chain)
    except Undecodable as error:
        missing = Missing("unreadable", f"the reference: {error}")
        rows = {placed.step.step: dict.fromkeys(columns, missing) for placed in chain.scored_steps}
    else:
        is_near = partial(is_near_threshold, columns, floors)
        rows = score_chain(job.reader.picture_at, chain, reference, lacking, is_near, decoders, batch)
    parts = {run.name: run.signature for run in lacking}
    return {"chain": chain.chain.id, "digest": chain.digest, "parts": parts, "rows": rows}


def _limits(job: "Job") -> tuple[int, int, int]:
    """How many threads, pictures in work and cached references there can be at once."""
    devices = {str(getattr(run.scorer, "device", "cpu")) for run in job.runs}
    memory = _MEMORY if devices == {"cpu"} else _GPU_MEMORY
    pixels = max((chain.pixels for chain in job.chains), default=1) or 1
    our_cores = cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    threads = max(1, min(our_cores, memory // ((_WORK_BYTES + _REFERENCE_BYTES) * pixels)))
    return threads, memory // (_WORK_BYTES * pixels), min(threads, memory // (_REFERENCE_BYTES * pixels))


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


def _in_threads(work: Callable[[_Item], Line], items: Sequence[_Item], threads: int) -> Iterator[Line]:
    with _library_threads_restored(), ThreadPoolExecutor(threads, initializer=_use_one_thread) as pool:
        waiting: set[Future[Line]] = set()
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
