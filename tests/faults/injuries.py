"""The faults: each hurts the course of a run or a dataset, and says whether it met a command under way.

What must hold after each is checked here; what must hold at the end, in the course itself.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from faults import processes
from faults.course import WORKERS, Course, Wrong
from faults.processes import Command
from fuzz.mutations import flipped

ENDED = (0, 1)  # whole, or stopped for a reason that was said
SIGNALLED = (
    *ENDED,
    2,
    -signal.SIGKILL,
    -signal.SIGTERM,
    -signal.SIGINT,
    130,
)  # the last: before our code listens
Injury = Callable[[Course], bool]


def moment(course: Course, longest: float = 0.7) -> None:
    time.sleep(course.chance.uniform(0, longest))


def after(course: Course, command: Command, allowed: tuple[int, ...], in_flight: int, why: str) -> None:
    code = command.end()
    course.look_at(command, code, allowed)
    course.settle(in_flight, why)


def signalled(*numbers: int) -> Injury:
    """These signals one after the other; only SIGKILL and a second Ctrl-C give up what is in flight."""

    def injury(course: Course) -> bool:
        command = course.start_next()
        moment(course)
        met = command.send(numbers[0])
        gives_up = met and numbers[0] == signal.SIGKILL
        for number in numbers[1:]:
            time.sleep(course.chance.uniform(0, 0.03))
            gives_up = command.send(number)
        after(course, command, SIGNALLED, WORKERS * gives_up, f"signals {numbers}")
        return met

    return injury


def two_at_once(course: Course) -> bool:
    crowd = [course.start_next() for _ in range(course.chance.choice((2, 2, 3)))]
    killed = 0
    for command in crowd[1:]:
        moment(course, 0.4)
        if course.chance.random() < 0.6:
            killed += command.send(signal.SIGKILL)
    for command in crowd:
        course.look_at(command, command.end(), SIGNALLED)
    course.settle(WORKERS * killed, "two commands at once")
    return True


def full_disk(course: Course) -> bool:
    ballast, early = course.disk / "ballast", course.chance.random() < 0.5
    if early:
        fill(ballast, course.chance.choice((0, 4_096, 120_000, 3_000_000, 30_000_000)))
    command = course.start_next()
    if not early:
        moment(course)
        fill(ballast, course.chance.choice((0, 0, 8_000, 60_000)))
    code = command.end()
    ballast.unlink()
    course.look_at(command, code, (0, 1, 2))
    if code and not any(word in command.said() for word in course.full_disk_words):
        raise Wrong(f"a full disk ends with {code} and says {command.said()[-600:]}")
    course.settle(0 if early else WORKERS, "a full disk")
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
    subprocess.run(["mount", "-o", "remount,ro", course.disk], check=True)
    try:
        command = course.start_next()
        code = command.end()
    finally:
        subprocess.run(["mount", "-o", "remount,rw", course.disk], check=True)
    course.look_at(command, code, (1, 2))
    course.settle(0, "a read-only disk")
    return True


def other_clock(course: Course) -> bool:
    """A clock years off, and files of another century."""
    for path in course.files():
        if course.chance.random() < 0.5:
            stamp = course.chance.choice((0, 1, 2**31 + 5, 4_000_000_000))
            os.utime(path, (stamp, stamp))
    command = course.start_next(processes.with_other_clock(course.chance))
    moment(course)
    met = command.send(signal.SIGKILL) if course.chance.random() < 0.5 else False
    after(course, command, SIGNALLED, WORKERS * met, "another clock")
    return True


def slow_disk(course: Course) -> bool:
    command = course.start_next(processes.with_slow_disk(course.chance))
    moment(course, 1.0)
    number = course.chance.choice((signal.SIGKILL, signal.SIGINT, signal.SIGTERM))
    met = command.send(number)
    after(course, command, SIGNALLED, WORKERS * (met and number == signal.SIGKILL), "a slow disk")
    return met


def broken_disk(course: Course) -> bool:
    command = course.start_next(processes.with_broken_disk(course.chance))
    code = command.end()
    course.look_at(command, code, (0, 1, 2))
    if code and not any(word in command.said() for word in (*course.full_disk_words, "disk reports an error")):
        raise Wrong(f"an error of the disk ends with {code} and says {command.said()[-600:]}")
    course.settle(WORKERS * (code != 0), "an error of the disk")
    return code != 0


def little_memory(course: Course) -> bool:
    command = course.start_next(processes.with_little_memory(course.chance))
    code = command.end()
    # A thread that dies before its first line has Thread.start wait for ever: github.com/python/cpython/issues/140746
    if code is None and "Exception ignored in thread started by" not in command.said():
        raise Wrong(f"stuck without memory: {command.said()[-800:]}")
    course.settle(WORKERS * (code != 0), "no memory")
    return code != 0


def damaged(how: str) -> Injury:
    """Alter one file while nothing runs; then the command that reads it says so, and it can be mended."""

    def injury(course: Course) -> bool:
        files = [path for path in course.files() if path.stat().st_size]
        if not files:
            return False
        path, chance = course.chance.choice(files), course.chance
        before = path.read_bytes()
        others = [other for other in files if other.suffix == path.suffix and other != path] or [path]
        place = chance.randrange(len(before))
        ways: dict[str, Callable[[], bytes | None]] = {
            "bit flip": lambda: flipped(before, place, chance),
            "truncation": lambda: before[:place],
            "zeros": lambda: before[:place] + bytes(len(before) - place),
            "swap": lambda: chance.choice(others).read_bytes(),
            "file gone": lambda: None,
        }
        data = ways[how]()
        if data == before:
            return False
        with course.counted():
            path.unlink()
            if data is not None:
                path.write_bytes(data)
        course.mend(path, before)
        course.settle(0, f"damage of {path.name}")
        return True

    return injury


# Each with its share.
DATASET: dict[str, tuple[Injury, float]] = {
    "kill": (signalled(signal.SIGKILL), 9),
    "SIGTERM": (signalled(signal.SIGTERM), 4),
    "Ctrl-C": (signalled(signal.SIGINT), 4),
    "two at once": (two_at_once, 4),
    "disk full": (full_disk, 5),
    "disk read-only": (read_only, 2),
    "disk error": (broken_disk, 4),
    "slow disk": (slow_disk, 3),
    "out of memory": (little_memory, 4),
    "bit flip": (damaged("bit flip"), 6),
    "truncation": (damaged("truncation"), 4),
    "zeros": (damaged("zeros"), 2),
    "swap": (damaged("swap"), 3),
    "file gone": (damaged("file gone"), 2),
}
STORE = DATASET | {
    "Ctrl-C twice": (signalled(signal.SIGINT, signal.SIGINT), 4),
    "clock": (other_clock, 1.5),
}


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int = 96) -> Iterator[None]:
    """A small file system of its own, which is gone afterwards."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
