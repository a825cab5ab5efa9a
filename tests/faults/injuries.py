"""The faults: each hurts the course of a run or a dataset, and says whether it met a command under way.

What must hold after each is checked here; what must hold at the end, in the course itself.
"""

import contextlib
import errno
import os
import random
import resource
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from faults.course import WORKERS, Wrong
from fuzz.mutations import changed

ENDED = (0, 1, 2)
KILLED = (*ENDED, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, 130)  # the last: before our code listens


def moment(course, longest=0.7):
    time.sleep(course.chance.uniform(0, longest))


def after(course, command, in_flight, why):
    course.look_at(command, command.end(), KILLED)
    course.settle(in_flight, why)


def after_disk(course, command, why, *more):
    """A command that its disk hurt has said so if it failed; whether it failed."""
    code = command.end()
    course.look_at(command, code, ENDED)
    if code and not any(word in command.said() for word in (*course.full_disk_words, *more)):
        raise Wrong(f"{why} ends with {code} and says {command.said()[-600:]}")
    return bool(code)


def signalled(*numbers):
    """These signals one after the other; only SIGKILL and a second Ctrl-C give up what is in flight."""

    def injury(course):
        command = course.start_next()
        moment(course)
        met = command.send(numbers[0])
        gives_up = met and numbers[0] == signal.SIGKILL
        for number in numbers[1:]:
            time.sleep(course.chance.uniform(0, 0.03))
            gives_up = command.send(number)
        after(course, command, WORKERS * gives_up, f"signals {numbers}")
        return met

    return injury


def two_at_once(course):
    crowd = [course.start_next() for _ in range(course.chance.choice((2, 2, 3)))]
    killed = 0
    for command in crowd[1:]:
        moment(course, 0.4)
        if course.chance.random() < 0.6:
            killed += command.send(signal.SIGKILL)
    for command in crowd:
        course.look_at(command, command.end(), KILLED)
    course.settle(WORKERS * killed, "two commands at once")
    return True


def full_disk(course):
    ballast, early = course.disk / "ballast", course.chance.random() < 0.5
    if early:
        fill(ballast, course.chance.choice((0, 4_096, 120_000, 3_000_000, 30_000_000)))
    command = course.start_next()
    if not early:
        moment(course)
        fill(ballast, course.chance.choice((0, 0, 8_000, 60_000)))
    after_disk(course, command, "a full disk")
    ballast.unlink()
    course.settle(0 if early else WORKERS, "a full disk")
    return True


def fill(ballast, left):
    """Take all space of a file system but so many bytes."""
    free = shutil.disk_usage(ballast.parent).free
    with contextlib.suppress(OSError), ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, free - left))
    if not left:
        with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as file:
            while True:
                file.write(bytes(4096))


def read_only(course):
    subprocess.run(["mount", "-o", "remount,ro", course.disk], check=True)
    try:
        command = course.start_next()
        code = command.end()
    finally:
        subprocess.run(["mount", "-o", "remount,rw", course.disk], check=True)
    course.look_at(command, code, (1, 2))
    course.settle(0, "a read-only disk")
    return True


def other_clock(course):
    """A clock that is years off and jumps, and files of another century."""
    for path in course.files():
        if course.chance.random() < 0.5:
            stamp = course.chance.choice((0, 1, 2**31 + 5, 4_000_000_000))
            os.utime(path, (stamp, stamp))
    offsets = [86_400 * course.chance.choice((-20_000, -400, -1, 0, 1, 30, 4_000, 25_000)) for _ in range(2)]
    jump, real, asked = course.chance.randrange(1, 400), time.time, iter(range(10**9))
    command = course.start_next(lambda: setattr(time, "time", lambda: real() + offsets[next(asked) > jump]))
    moment(course)
    met = command.send(signal.SIGKILL) if course.chance.random() < 0.5 else False
    after(course, command, WORKERS * met, "another clock")
    return True


def slow_disk(course):
    """Whatever is to be durable takes its time."""
    slowness, fsync = course.chance.uniform(0.005, 0.03), os.fsync

    def slowly(handle):
        time.sleep(random.uniform(0, 2 * slowness))
        fsync(handle)

    command = course.start_next(lambda: setattr(os, "fsync", slowly))
    moment(course, 1.0)
    number = course.chance.choice((signal.SIGKILL, signal.SIGINT, signal.SIGTERM))
    met = command.send(number)
    after(course, command, WORKERS * (met and number == signal.SIGKILL), "a slow disk")
    return met


def broken_disk(course):
    """A disk that answers some writes with an error of its own."""
    often, name = course.chance.choice((0.05, 0.3, 1.0)), course.chance.choice(("fsync", "replace"))
    call = getattr(os, name)

    def fail(*arguments):
        if random.random() < often:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        call(*arguments)

    command = course.start_next(lambda: setattr(os, name, fail))
    failed = after_disk(course, command, "an error of the disk", "disk reports an error")
    course.settle(WORKERS * failed, "an error of the disk")
    return failed


def little_memory(course):
    """After a while the process may take hardly any memory more."""
    wait, more = course.chance.uniform(0.02, 0.3), course.chance.randrange(0, 4_000_000)

    def tighten():
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    timer = threading.Timer(wait, tighten)
    timer.daemon = True
    command = course.start_next(timer.start)
    code = command.end()
    # A thread that dies before its first line has Thread.start wait for ever: github.com/python/cpython/issues/140746
    if code is None and "Exception ignored in thread started by" not in command.said():
        raise Wrong(f"stuck without memory: {command.said()[-800:]}")
    course.settle(WORKERS * (code != 0), "no memory")
    return code != 0


def damaged(how):
    """Alter one file while nothing runs, as fuzzing does; then what reads it says so, and it can be mended."""

    def injury(course):
        files = [path for path in course.files() if path.stat().st_size]
        if not files:
            return False
        path, chance = course.chance.choice(files), course.chance
        before = path.read_bytes()
        others = [other for other in files if other.suffix == path.suffix and other != path] or [path]
        data = changed(before, how, chance, [chance.choice(others).read_bytes()])
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
DATASET = {
    "kill": (signalled(signal.SIGKILL), 9),
    "SIGTERM": (signalled(signal.SIGTERM), 4),
    "Ctrl-C": (signalled(signal.SIGINT), 4),
    "two at once": (two_at_once, 4),
    "disk full": (full_disk, 5),
    "disk read-only": (read_only, 2),
    "disk error": (broken_disk, 4),
    "slow disk": (slow_disk, 3),
    "out of memory": (little_memory, 4),
    "bit flip": (damaged("bit"), 6),
    "truncation": (damaged("cut"), 4),
    "zeros": (damaged("zeros"), 2),
    "swap": (damaged("other"), 3),
    "file gone": (damaged("gone"), 2),
}
STORE = DATASET | {"Ctrl-C twice": (signalled(signal.SIGINT, signal.SIGINT), 4), "clock": (other_clock, 1.5)}


@contextlib.contextmanager
def small_disk(folder, megabytes=96):
    """A small file system of its own, which is gone afterwards."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
