"""Commands as processes that a campaign can hurt: forks of one that has imported what they need."""

import contextlib
import errno
import multiprocessing
import os
import random
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

FORK = multiprocessing.get_context("fork")
PATIENCE = 240.0  # seconds that a command may take on a busy machine before it counts as stuck


class Command:
    """One command of ours under way, and what it has said."""

    def __init__(self, words: list[str], said: Path, hurt: Callable[[], None] = lambda: None):
        self.words, self.said_to = words, said
        self.process = FORK.Process(target=perform, args=(words, said, hurt))
        self.process.start()

    def send(self, number: int) -> bool:
        """Send a signal; whether the command was still there."""
        if not self.process.is_alive():
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(self.process.pid or 0), number)
        return True

    def end(self) -> int | None:
        """Its exit code once it has ended; None if it is stuck, and then it is killed."""
        self.process.join(PATIENCE)
        stuck = self.process.is_alive()
        if stuck:
            self.process.kill()
            self.process.join()
        return None if stuck else self.process.exitcode

    def said(self) -> str:
        return self.said_to.read_text(errors="replace") if self.said_to.exists() else ""


def perform(words: list[str], said: Path, hurt: Callable[[], None]) -> None:
    """In the forked process: the command, with its words in a file."""
    handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    random.seed()
    from convergebench.cli.__main__ import main

    hurt()
    main(words, prog_name="convergebench")


def with_little_memory(chance: random.Random) -> Callable[[], None]:
    """After a while the process may take hardly any memory more."""
    after, more = chance.uniform(0.02, 0.3), chance.randrange(0, 4_000_000)

    def tighten() -> None:
        time.sleep(after)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    return lambda: threading.Thread(target=tighten, daemon=True).start()


def with_slow_disk(chance: random.Random) -> Callable[[], None]:
    """Whatever is to be durable takes its time."""
    slowness, fsync = chance.uniform(0.005, 0.03), os.fsync

    def slowly(handle: int) -> None:
        time.sleep(random.uniform(0, 2 * slowness))
        fsync(handle)

    return lambda: setattr(os, "fsync", slowly)


def with_broken_disk(chance: random.Random) -> Callable[[], None]:
    """A disk that answers some writes with an error of its own."""
    often, name = chance.choice((0.05, 0.3, 1.0)), "fsync" if chance.random() < 0.5 else "replace"
    call = getattr(os, name)

    def fail(*arguments: object) -> None:
        if random.random() < often:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        call(*arguments)

    return lambda: setattr(os, name, fail)


def with_other_clock(chance: random.Random) -> Callable[[], None]:
    """A clock that is years off, and jumps."""
    offsets = [86_400 * chance.choice((-20_000, -400, -1, 0, 1, 30, 4_000, 25_000)) for _ in range(2)]
    jump, real, asked = chance.randrange(1, 400), time.time, iter(range(10**9))
    return lambda: setattr(time, "time", lambda: real() + offsets[next(asked) > jump])
