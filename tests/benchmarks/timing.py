"""What the benchmarks share: seconds and memory of work."""

import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests' helpers


class Spent(NamedTuple):
    clock: float  # seconds
    processor: float  # seconds
    megabytes: float  # the largest resident size


def in_own_process(work: Callable[..., object], *arguments: object) -> Spent:
    """Run a function in a fresh process, so that its memory is its own; the start of Python does not count."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measured, args=(sender, work, arguments))
    process.start()
    sender.close()
    try:
        return Spent(*receiver.recv())
    except EOFError:
        raise SystemExit(f"{work.__name__} failed") from None
    finally:
        process.join()


def _measured(sender: Any, work: Callable[..., object], arguments: Sequence[object]) -> None:
    started, processor = time.perf_counter(), time.process_time()
    work(*arguments)
    clock, seconds = time.perf_counter() - started, time.process_time() - processor
    # Not ru_maxrss, which begins at what the parent process held.
    sender.send((clock, seconds, _from_status(os.getpid(), "VmHWM")))


def resident(process: Any) -> float:
    return _from_status(process.pid, "VmRSS")


def _from_status(pid: int, name: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(name)).split()[1]) / 1024


@contextmanager
def watched_memory(process: Any):
    """The most memory that a process held while the block ran, as a function."""
    most, ended = [0.0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.1) and process.poll() is None:
            most[0] = max(most[0], resident(process))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield lambda: most[0]
    finally:
        ended.set()
        thread.join()


def remove_scores(dataset: Path) -> None:
    for name in ("data/scores", "data/floors", ".scoring"):
        shutil.rmtree(dataset / name, ignore_errors=True)
