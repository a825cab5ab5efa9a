"""Work done so far, one file per process: a line for each finished chain, durable before it counts.

A crash at any byte loses at most the line being written. Whatever is in the files is not done again, by however many
processes the work is taken up.
"""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FOLDER = ".scoring"
SILENCE = 180.0  # seconds without a sign of life after which another process is given up
PULSE = 5.0


class Silent(RuntimeError):
    """Another process of this run is gone."""


class Shard:
    """This process's file; the lock on it dies with its owner."""

    def __init__(self, folder: Path, rank: int):
        self.rank, self.path = rank, path_of(folder, rank)
        self.file = self.path.open("ab", buffering=0)
        fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.file.truncate(self.path.read_bytes().rfind(b"\n") + 1)
        self.pulse = time.monotonic()
        self.add({"running": rank})

    def add(self, line: dict[str, Any]) -> None:
        """Write one finished piece of work, durably."""
        self.file.write(json.dumps(line).encode() + b"\n")
        os.fsync(self.file.fileno())

    def alive(self) -> None:
        """Show the other processes that this one is at work."""
        if time.monotonic() - self.pulse > PULSE:
            os.utime(self.path)
            self.pulse = time.monotonic()

    def close(self) -> None:
        self.file.close()


def path_of(folder: Path, rank: int) -> Path:
    return folder / f"{rank:04d}.jsonl"


def owned(folder: Path) -> bool:
    """Whether a living process is writing one of the shards."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False


class Tail:
    """Reads all shards, each line once; a torn last line is left until it is whole."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.offsets: dict[Path, int] = {}

    def new(self) -> Iterator[dict[str, Any]]:
        """The lines that were not there the last time."""
        for path in sorted(self.folder.glob("*.jsonl")):
            start = self.offsets.get(path, 0)
            if path.stat().st_size <= start:
                continue
            with path.open("rb") as file:
                file.seek(start)
                data = file.read()
            whole = data.rfind(b"\n") + 1
            self.offsets[path] = start + whole
            for line in data[:whole].splitlines():
                with contextlib.suppress(ValueError):
                    yield json.loads(line)


def wait(folder: Path, size: int, settled: Callable[[], bool], running: set[int], mine: Shard) -> None:
    """Wait until all is settled, as long as the processes still running show signs of life."""
    signs: dict[int, tuple[object, float]] = {}
    while not settled():
        if running <= {mine.rank} and not settled():
            raise Silent("the other processes ended without their share; do all have the same weights and dtype?")
        mine.alive()
        now = time.monotonic()
        for rank in range(size):
            path = path_of(folder, rank)
            status = path.stat() if path.exists() else None
            sign = status and (status.st_size, status.st_mtime_ns)
            before, since = signs.get(rank, (None, now))
            if rank not in signs or before != sign:
                signs[rank] = sign, now
            elif rank in running and rank != mine.rank and now - since > SILENCE:
                raise Silent(f"process {rank} of {size} shows no sign of life; the same command again goes on")
        time.sleep(0.1)


def clear(folder: Path) -> None:
    """All is in the dataset now."""
    for path in folder.glob("*.jsonl"):
        path.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()
