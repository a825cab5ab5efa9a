"""The faults: each takes the course of a run, hurts it, and says whether it met it under way.

What must hold after each is checked here; what must hold at the end, in the course itself.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from faults import processes
from faults.processes import Command
from faults.store_course import CONCURRENCY, Course, Wrong
from fuzz.mutations import flipped

ENDED = (0, 1)  # whole, or stopped for a reason that was said
SIGNALLED = (*ENDED, -signal.SIGTERM, -signal.SIGINT, 130)  # before our code listens, Python's own way


def moment(course: Course, longest: float = 0.6) -> None:
    time.sleep(course.chance.uniform(0, longest))


def bad_weather(course: Course) -> None:
    if course.shop:
        course.shop.weather.value = course.chance.random() < 0.7


def under_way(course: Course, hurt: Callable[[], None] = lambda: None, real: bool = False) -> Command:
    course.grow()
    bad_weather(course)
    return course.start(hurt, real=real)


def after(course: Course, command: Command, allowed: tuple[int, ...], in_flight: int, why: str) -> None:
    code = command.end()
    course.look_at(command, code, allowed)
    course.settle(in_flight, why)


def kill(course: Course) -> bool:
    """SIGKILL at any moment."""
    command = under_way(course)
    moment(course)
    met = command.send(signal.SIGKILL)
    after(course, command, (*ENDED, -signal.SIGKILL), CONCURRENCY * met, "SIGKILL")
    return met


def terminate(course: Course) -> bool:
    """SIGTERM: no new call, and those in flight end."""
    command = under_way(course)
    moment(course)
    met = command.send(signal.SIGTERM)
    after(course, command, SIGNALLED, 0, "SIGTERM")
    return met


def interrupt(course: Course) -> bool:
    """Ctrl-C once: the same."""
    command = under_way(course)
    moment(course)
    met = command.send(signal.SIGINT)
    after(course, command, SIGNALLED, 0, "Ctrl-C")
    return met


def interrupt_twice(course: Course) -> bool:
    """Ctrl-C twice: what is in flight is given up."""
    command = under_way(course)
    moment(course)
    met = command.send(signal.SIGINT)
    time.sleep(course.chance.uniform(0, 0.03))
    again = command.send(signal.SIGINT)
    after(course, command, SIGNALLED, CONCURRENCY * again, "Ctrl-C twice")
    return met


def two_runs(course: Course) -> bool:
    """Two or three commands on one folder at once, of which some are killed."""
    course.grow()
    bad_weather(course)
    crowd = [course.start() for _ in range(course.chance.choice((2, 2, 3)))]
    killed = 0
    for command in crowd[1:]:
        moment(course, 0.4)
        if course.chance.random() < 0.6:
            killed += command.send(signal.SIGKILL)
    for command in crowd:
        course.look_at(command, command.end(), (*ENDED, -signal.SIGKILL))
    course.settle(CONCURRENCY * killed, "two runs at once")
    return True


def full_disk(course: Course) -> bool:
    """The disk is full, or fills while the run goes on."""
    ballast, early = course.run.parent / "ballast", course.chance.random() < 0.5
    course.grow()
    bad_weather(course)
    if early:
        fill(ballast, course.chance.choice((0, 4_096, 120_000, 3_000_000, 30_000_000)))
    command = course.start()
    if not early:
        moment(course)
        fill(ballast, course.chance.choice((0, 0, 8_000, 60_000)))
    code = command.end()
    ballast.unlink()
    course.look_at(command, code, (0, 1, 2))
    if code and not any(word in command.said() for word in ("disk is full", "would pass the limit", "stopped:")):
        raise Wrong(f"a full disk ends with {code} and says {command.said()[-600:]}")
    course.settle(0 if early else CONCURRENCY, "a full disk")
    return True


def fill(ballast: Path, left: int) -> None:
    """Take all space of a file system but so many bytes."""
    free = shutil.disk_usage(ballast.parent).free
    with contextlib.suppress(OSError), ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, free - left))
    if not left:
        with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as file:
            while True:
                file.write(bytes(4096))


def read_only(course: Course) -> bool:
    """The disk may only be read."""
    course.grow()
    with only_read(course.run.parent):
        command = course.start()
        code = command.end()
    course.look_at(command, code, (1, 2))
    if "read-only" not in command.said():
        raise Wrong(f"a read-only disk is called: {command.said()[-600:]}")
    course.settle(0, "a read-only disk")
    return True


@contextlib.contextmanager
def only_read(disk: Path) -> Iterator[None]:
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)


def other_clock(course: Course) -> bool:
    """A clock years off, and files of another century."""
    for path in course.files():
        if course.chance.random() < 0.5:
            stamp = course.chance.choice((0, 1, 2**31 + 5, 4_000_000_000))
            os.utime(path, (stamp, stamp))
    command = under_way(course, processes.with_other_clock(course.chance))
    moment(course)
    met = command.send(signal.SIGKILL) if course.chance.random() < 0.5 else False
    after(course, command, (*ENDED, -signal.SIGKILL), CONCURRENCY * met, "another clock")
    return True


def slow_disk(course: Course) -> bool:
    """A disk that takes its time, and a kill or Ctrl-C meanwhile."""
    command = under_way(course, processes.with_slow_disk(course.chance))
    moment(course, 1.0)
    number = course.chance.choice((signal.SIGKILL, signal.SIGINT, signal.SIGTERM))
    met = command.send(number)
    killed = met and number == signal.SIGKILL
    after(course, command, (*SIGNALLED, -signal.SIGKILL), CONCURRENCY * killed, "a slow disk")
    return met


def little_memory(course: Course) -> bool:
    """The process runs out of memory."""
    command = under_way(course, processes.with_little_memory(course.chance))
    code = command.end()
    if code is None:
        raise Wrong(f"stuck without memory: {command.said()[-800:]}")
    course.settle(CONCURRENCY * (code != 0), "no memory")
    return code != 0


# Several processes of one launch, as real commands


def launched(course: Course, hurt: Callable[[int, list[int]], None]) -> bool:
    """The run by `accelerate launch` on two processes, of which something is hurt once both are at work."""
    course.grow()
    bad_weather(course)
    words = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"]
    command = course.start(words=[*words, "-m", "convergebench.generation", *course.words()[1:]], real=True)
    until = time.monotonic() + processes.PATIENCE
    while command.alive and time.monotonic() < until and not list((course.run / "log").glob("*-of-2.jsonl")):
        time.sleep(0.02)
    moment(course)
    met = command.alive
    ranks = processes.children(command.pid) if met else []
    if met:
        hurt(command.pid, ranks)
    code = command.end()
    while left := [pid for pid in ranks if processes.is_at_work(pid)]:  # they outlive a launcher that is killed
        if time.monotonic() > until:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            raise Wrong(f"workers do not end: {command.said()[-800:]}")
        time.sleep(0.05)
    if code is None:
        raise Wrong(f"a launch is stuck: {command.said()[-800:]}")
    course.settle(2 * CONCURRENCY, "a launch that was hurt")
    return met


def launcher(course: Course) -> bool:
    """SIGKILL for the launcher, whose workers go on, while the same command is given again."""

    def hurt(pid: int, ranks: list[int]) -> None:
        os.kill(pid, signal.SIGKILL)
        again = course.start()
        course.look_at(again, again.end(), ENDED)

    return launched(course, hurt)


def launcher_terminated(course: Course) -> bool:
    """SIGTERM or Ctrl-C for the launcher, which hands it on."""
    return launched(course, lambda pid, ranks: os.kill(pid, course.chance.choice((signal.SIGTERM, signal.SIGINT))))


def rank(course: Course) -> bool:
    """SIGKILL for one of the ranks, as from a machine without memory."""

    def hurt(pid: int, ranks: list[int]) -> None:
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(course.chance.choice(ranks), signal.SIGKILL)

    return launched(course, hurt)


# Files


def flip(course: Course) -> bool:
    """One bit of one file is another."""
    return damage(course, lambda data, _: flipped(data, course.chance.randrange(len(data)), course.chance))


def cut(course: Course) -> bool:
    """A file ends early."""
    return damage(course, lambda data, _: data[: course.chance.randrange(len(data))])


def zeroed(course: Course) -> bool:
    """A part of a file is zeros, as after a power cut."""
    return damage(
        course, lambda data, _: data[: (place := course.chance.randrange(len(data)))] + bytes(len(data) - place)
    )


def swap(course: Course) -> bool:
    """A file has the content of another of its kind."""
    return damage(course, lambda _, other: other)


def missing(course: Course) -> bool:
    """A file is gone."""
    return damage(course, lambda data, other: None)


def damage(course: Course, change: Callable[[bytes, bytes], bytes | None]) -> bool:
    """Alter one file of the run, while nothing runs; then whoever reads it says so, and the run can be mended."""
    files = [path for path in course.files() if path.stat().st_size]
    if not files:
        return False
    path = course.chance.choice(files)
    before = path.read_bytes()
    others = [each for each in files if each.suffix == path.suffix and each != path] or [path]
    data = change(before, course.chance.choice(others).read_bytes())
    if data == before:
        return False
    with course.counted():
        path.unlink()
        if data is not None:
            path.write_bytes(data)
    mend(course, path, before)
    course.settle(0, f"damage of {path.name}")
    return True


def mend(course: Course, path: Path, before: bytes) -> None:
    """What a user does: verify with repair, the run again, and what only a person can restore is restored."""
    with course.counted():
        code, said = course.ask("verify", course.run, "--repair")
    if code == 1 and not said.strip():
        raise Wrong("verify says nothing and ends with 1")
    for _ in range(2):
        command = course.start()
        code = command.end()
        course.look_at(command, code, (0, 1, 2))
        told = command.said()
        if code == 0 or "would pass the limit" in told or "calls all failed" in told:
            return
        if "restore" not in told:
            raise Wrong(f"{path} was altered; the run ends with {code} and says {told[-800:]}")
        with course.counted():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(before)
    raise Wrong(f"{path} is restored, and the run still ends with {code}: {told[-800:]}")


STORE: dict[str, tuple[Callable[[Course], bool], float]] = {
    "kill": (kill, 9),
    "SIGTERM": (terminate, 4),
    "Ctrl-C": (interrupt, 4),
    "Ctrl-C twice": (interrupt_twice, 4),
    "two runs at once": (two_runs, 4),
    "disk full": (full_disk, 5),
    "disk read-only": (read_only, 2),
    "clock": (other_clock, 1.5),
    "slow disk": (slow_disk, 3),
    "out of memory": (little_memory, 4),
    "launcher killed": (launcher, 0.35),
    "launcher ended": (launcher_terminated, 0.35),
    "rank killed": (rank, 0.5),
    "bit flip": (flip, 6),
    "truncation": (cut, 4),
    "zeros": (zeroed, 2),
    "swap": (swap, 3),
    "file gone": (missing, 2),
}  # each with its share


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int = 96) -> Iterator[None]:
    """A small file system of its own, which is gone afterwards."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
