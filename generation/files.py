"""Locks folders, writes files atomically, and explains the disk's errors."""

import contextlib
import errno
import os
import re
import threading
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from .records import Json, UserError

LOCK = ".lock"  # the lock file in a folder, present only while the lock is held
UNFINISHED = ".part"  # suffix of files that are still being written
CAUSES = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.EACCES: "its owner does not allow it; choose another path or change the owner",
    errno.EPERM: "its owner does not allow it; choose another path or change the owner",
    errno.EIO: "the disk reports an error; check it, or choose another folder",
    errno.ENOTDIR: "that is not a folder; choose another",
    errno.EEXIST: "that is not a folder; choose another",
    errno.EISDIR: "that is a folder, and a file is needed",
    errno.ENAMETOOLONG: "the name is longer than the file system allows; choose a shorter one",
    errno.ELOOP: "its symbolic links form a circle; choose another path",
    errno.EFBIG: "a file would be larger than the file system or `ulimit -f` allows; choose another folder",
    getattr(errno, "EDQUOT", -1): "the disk quota is used up; free some space",  # Windows has no such number
}


class Locked(UserError):
    """Another process or thread holds the lock of the folder."""


@contextlib.contextmanager
def locked(folder: Path, wait: bool = False, links: bool = False) -> Iterator[None]:
    """Hold the folder's lock, which ends with its process; `wait` for it or raise Locked.

    What holds the lock writes below the folder, so no link may be there, except with `links`.
    """
    import filelock  # which loads asyncio

    folder.mkdir(parents=True, exist_ok=True)
    if not links:
        refuse_links(folder)
    path = folder / LOCK
    lock = filelock.FileLock(path, poll_interval=0.02)
    try:
        lock.acquire(blocking=wait)
    except filelock.Timeout:
        raise Locked(f"{folder} is being written by another process; wait for it or choose another") from None
    try:
        yield
    finally:
        # Removed while still held: a waiting filelock notices that its file was removed and opens a new one.
        # Windows cannot remove an open file; there filelock removes it itself.
        if isinstance(lock, filelock.UnixFileLock):
            path.unlink(missing_ok=True)
        lock.release()


def refuse_links(folder: Path) -> None:
    """Raise UserError for a symbolic link below the folder: it may lead to files that are not ours."""
    for place, folders, files in os.walk(folder):
        for path in (Path(place, name) for name in (*folders, *files)):
            if path.is_symlink():
                advice = "put what it names in its place"
                raise UserError(f"{path} is a symbolic link, which is not followed; {advice}")
        if Path(place).name == "chains":  # the folder of a chain has a lock of its own
            folders.clear()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is whole or absent, even if the power fails."""
    part = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}{UNFINISHED}")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    if os.name == "posix":  # elsewhere a folder cannot be opened
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def file_name(text: str, default: str = "unnamed") -> str:
    """A name that stays in its folder, in any file system and any glob.

    >>> file_name("../my model:size=2"), file_name("..")
    ('my-model-size-2', 'unnamed')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip(".-") or default


def refuse_strangers_file(path: Path, is_ours: Callable[[bytes], bool]) -> None:
    """Raise UserError if the file exists and was not written by this benchmark."""
    if os.path.lexists(path) and not (path.is_file() and is_ours(path.read_bytes())):
        advice = "move it away or choose another"
        raise UserError(f"{path} was not written by this benchmark and stays as it is; {advice}")


def toml_beside(module: str, name: str) -> Json:
    """The tables of a file of ours, beside the module with this `__file__`."""
    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))


def read_toml(path: Path) -> Json:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path} is not TOML: {error}") from error


def remove_unfinished(folder: Path) -> None:
    for path in folder.glob(f".*{UNFINISHED}"):
        path.unlink()


@contextlib.contextmanager
def disk_errors_explained(folder: Path) -> Iterator[None]:
    """Turn an error of the file system into one sentence with advice."""
    try:
        yield
    except OSError as error:
        cause = CAUSES.get(error.errno or 0)
        if cause is None:
            raise
        raise UserError(f"cannot write to {folder}: {cause} and give the same command again") from error
