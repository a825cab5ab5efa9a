"""Runs work in several threads; Ctrl-C starts nothing new and lets paid calls in flight finish."""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

GRACE = 60.0  # seconds for calls in flight to finish after Ctrl-C, because they are paid for


def do_all(
    items: Iterable[_Item],
    do: Callable[[_Item], _Result],
    record: Callable[[Future[_Result], _Item], None],
    stop: Callable[[str], None],
    at_once: int,
) -> int:
    """Do every item, `at_once` at a time, and record each in this thread as it ends; returns how many were abandoned.

    `stop` is called with a reason on Ctrl-C, SIGTERM or an internal error; after that `do` must start nothing that
    costs money. Running items then have a minute to finish, or until a second Ctrl-C.
    """
    pool = ThreadPoolExecutor(max_workers=at_once)
    running: dict[Future[_Result], _Item] = {}
    unsent = iter(items)
    deadline: float | None = None
    try:
        with _sigterm_interrupts():
            while True:
                try:
                    for item in unsent:
                        running[pool.submit(do, item)] = item
                    while running and (deadline is None or time.monotonic() < deadline):
                        seconds = None if deadline is None else deadline - time.monotonic()
                        for future in wait(running, seconds, return_when=FIRST_COMPLETED)[0]:
                            record(future, running[future])
                            del running[future]
                    break
                except KeyboardInterrupt:
                    if deadline is not None:  # Ctrl-C was pressed twice
                        break
                    stop("interrupted; give the same command again to go on")
                    deadline = time.monotonic() + GRACE
        return sum(future.running() for future in running)
    except BaseException:
        stop("an internal error")
        raise
    finally:
        pool.shutdown(wait=deadline is None, cancel_futures=True)


@contextlib.contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """SIGTERM, which a machine that shuts down sends, acts like Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread can handle signals
        yield
        return

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
