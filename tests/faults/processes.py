"""Commands as processes that a campaign can hurt: forks of one that has imported what they need, or real commands."""

import contextlib
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

FORK = multiprocessing.get_context("fork")
PATIENCE = 240.0  # seconds that a command may take on a busy machine before it counts as stuck


class Command:
    """One command of ours under way, and what it has said."""

    def __init__(self, words: list[str], said: Path, hurt: Callable[[], None] = lambda: None, real: bool = False):
        self.words, self.said_to = words, said
        if real:
            with said.open("wb") as file:
                self.process: subprocess.Popen[bytes] | multiprocessing.process.BaseProcess = subprocess.Popen(
                    words, stdout=file, stderr=file, start_new_session=True, env=dict(os.environ)
                )
        else:
            self.process = FORK.Process(target=perform, args=(words, said, hurt))
            self.process.start()

    @property
    def pid(self) -> int:
        return int(self.process.pid or 0)

    @property
    def alive(self) -> bool:
        if isinstance(self.process, subprocess.Popen):
            return self.process.poll() is None
        return self.process.is_alive()

    def send(self, number: int) -> bool:
        """Send a signal; whether the command was still there."""
        if not self.alive:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)
        return True

    def end(self) -> int | None:
        """Its exit code once it has ended; None where it is stuck, and then it is killed."""
        until = time.monotonic() + PATIENCE
        while self.alive and time.monotonic() < until:
            time.sleep(0.005)
        stuck = self.alive
        if stuck:
            os.kill(self.pid, signal.SIGKILL)
        if isinstance(self.process, subprocess.Popen):
            self.process.wait()
            code = self.process.returncode
        else:
            self.process.join()
            code = self.process.exitcode
        return None if stuck else code

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

    def hurt() -> None:
        def tighten() -> None:
            time.sleep(after)
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            most = pages * resource.getpagesize() + more
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

        threading.Thread(target=tighten, daemon=True).start()

    return hurt


def with_slow_disk(chance: random.Random) -> Callable[[], None]:
    """Whatever is to be durable takes its time."""
    slowness = chance.uniform(0.005, 0.03)

    def hurt() -> None:
        fsync = os.fsync

        def slowly(handle: int) -> None:
            time.sleep(random.uniform(0, 2 * slowness))
            fsync(handle)

        os.fsync = slowly

    return hurt


def with_other_clock(chance: random.Random) -> Callable[[], None]:
    """A clock that is years off, and jumps."""
    offsets = [86_400 * chance.choice((-20_000, -400, -1, 0, 1, 30, 4_000, 25_000)) for _ in range(2)]
    jump = chance.randrange(1, 400)

    def hurt() -> None:
        real, asked = time.time, iter(range(10**9))
        time.time = lambda: real() + offsets[next(asked) > jump]

    return hurt


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_at_work(pid: int) -> bool:
    """Whether a process of ours with this number is there and has not ended."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return b"convergebench" in words and state != "Z"
    return False
