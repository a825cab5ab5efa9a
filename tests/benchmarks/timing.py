"""What the benchmarks share: seconds and memory of work."""

import multiprocessing
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests' helpers


class Spent(NamedTuple):
    clock: float  # seconds
    processor: float  # seconds
    megabytes: float  # the largest resident size


def in_own_process(work: Callable[..., object], *arguments: object) -> Spent:
    """Run a function in a fresh process, so that its memory is its own; the start of Python does not count."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measured, work, arguments).result()


def _measured(work: Callable[..., object], arguments: Sequence[object]) -> Spent:
    started, processor = time.perf_counter(), time.process_time()
    work(*arguments)
    clock, seconds = time.perf_counter() - started, time.process_time() - processor
    return Spent(clock, seconds, memory(os.getpid(), "VmHWM"))


def memory(process: int, name: str) -> float:
    """Megabytes: VmRSS now, VmHWM at most (ru_maxrss would begin at what the parent process held)."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(name)).split()[1]) / 1024


def remove_scores(dataset: Path) -> None:
    for name in ("data/scores", "data/floors", ".scoring"):
        shutil.rmtree(dataset / name, ignore_errors=True)
