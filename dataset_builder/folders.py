"""Folders that are written to: one owner at a time, and one sentence where the file system refuses."""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from convergebench.generation.records import UserError

CAUSES = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the disk quota is used up; free some space",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.EACCES: "writing is not allowed; choose another folder or its owner",
    errno.EPERM: "writing is not allowed; choose another folder or its owner",
    errno.ENOTDIR: "that is not a folder; choose another",
    errno.EEXIST: "that is not a folder; choose another",
}


@contextlib.contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Own a folder, made if need be, for as long as the block runs; the lock dies with its owner."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{folder} is being written by another process; wait for it or choose another") from None
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def plainly(folder: Path) -> Iterator[None]:
    """Say in one sentence what the file system refused."""
    try:
        yield
    except OSError as error:
        if error.errno not in CAUSES:
            raise
        cause = CAUSES[error.errno]
        raise UserError(f"cannot write to {folder}: {cause}; what was there before is untouched") from error
