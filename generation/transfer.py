"""Transfers files of tasks that share no disk, through a place that all machines can reach.

PLACE/00003/000000.tar, 000001.tar ...   what task 3 finished; each archive holds what is new since the last
"""

import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datatrove.io import DataFolder

PAUSE = 300.0  # seconds between two archives: each may be a commit, and a Hub repository allows 128 an hour
RETRY_PAUSES = (1.0, 5.0, 30.0, 120.0)  # seconds between attempts to send a task's last archive


@dataclass(frozen=True)
class Transfer:
    """How a task on another machine gets its folder and sends what it finished there."""

    place: str  # such as hf://buckets/ME/BUCKET/FOLDER
    finished: Callable[[Path], Iterable[Path]]  # the complete files of a folder that are needed later
    shared: bool = False  # whether a task needs what the others finished
    inputs: str = ""  # another place, whose archives every task starts from

    @contextmanager
    def task_folder(self, rank: int) -> Iterator[Path]:
        """A folder with what this task finished earlier; new files are sent while the block runs and after it."""
        with tempfile.TemporaryDirectory(prefix="convergebench-") as name:
            folder = Path(name) / "run"
            folder.mkdir()
            if self.inputs:
                fetch(self.inputs, folder)
            fetch(self.place, folder, None if self.shared else rank)
            sender = _Sender(self, folder, rank)
            try:
                with _repeated(sender.send):
                    yield folder
            finally:
                sender.send_last()


class _Sender:
    """Sends the archives of one task."""

    def __init__(self, transfer: Transfer, folder: Path, rank: int):
        self.transfer, self.folder, self.rank = transfer, folder, rank
        self.number = len(archives(transfer.place, rank))
        self.sent: dict[Path, tuple[int, int]] = {}
        self.sent = self.unsent()  # fetched files need not be sent

    def unsent(self) -> dict[Path, tuple[int, int]]:
        """Finished files whose current state has not been sent, in order."""
        stats = {path: path.stat() for path in self.transfer.finished(self.folder)}
        states = {path: (stat.st_size, stat.st_mtime_ns) for path, stat in stats.items()}
        return {path: state for path, state in states.items() if self.sent.get(path) != state}

    def send(self) -> None:
        if files := self.unsent():
            send(self.transfer.place, f"{self.rank:05d}/{self.number:06d}.tar", files, self.folder)
            self.number += 1
            self.sent |= files

    def send_last(self) -> None:
        """Send the remaining files, with retries, because otherwise the task's work is lost."""
        for pause in RETRY_PAUSES:
            with suppress(Exception):  # each storage library raises its own; the last attempt shows the error
                self.send()
            if not self.unsent():
                return
            time.sleep(pause)
        self.send()


def send(place: str, name: str, files: Iterable[Path], root: Path) -> None:
    """Stream files into one archive, named by their paths below the root."""
    with _folder_at(place).open(name, "wb") as file, tarfile.open(fileobj=file, mode="w|") as archive:
        for path in files:
            archive.add(path, path.relative_to(root).as_posix())


def archives(place: str, rank: int | None = None) -> list[str]:
    """The names of all archives at a place, or of one task's, in order."""
    folder = _folder_at(place)
    folder.invalidate_cache()
    try:
        names = folder.list_files("" if rank is None else f"{rank:05d}", glob_pattern=None)
    except FileNotFoundError:
        return []
    return sorted(name for name in names if name.endswith(".tar"))


def fetch(place: str, folder: Path, rank: int | None = None, fetched: set[str] | None = None) -> None:
    """Unpack the archives of all tasks, or of one; those in `fetched` are skipped, and new ones are added to it."""
    fetched = set() if fetched is None else fetched
    for name in archives(place, rank):
        if name not in fetched:
            with _folder_at(place).open(name, "rb") as file, tarfile.open(fileobj=file, mode="r|") as archive:
                archive.extractall(folder, filter="data")
            fetched.add(name)


@contextmanager
def arriving(transfer: Transfer | None, folder: Path) -> Iterator[None]:
    """Fetch what tasks send into a folder before, during and after the block; without a transfer do nothing."""
    if transfer is None:
        yield
        return
    place, fetched = transfer.place, set[str]()
    fetch(place, folder, fetched=fetched)
    try:
        with _repeated(lambda: fetch(place, folder, fetched=fetched)):
            yield
    finally:
        fetch(place, folder, fetched=fetched)


@contextmanager
def _repeated(work: Callable[[], object]) -> Iterator[None]:
    """Repeat work in a thread while the block runs, ignoring errors, because the next time catches up."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(PAUSE):
            with suppress(Exception):
                work()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def make_place(place: str) -> None:
    """Create the Hub bucket or repository of a place if it does not exist; other places have to exist already."""
    protocol, _, path = place.partition("://")
    if protocol != "hf":
        return
    from huggingface_hub import create_bucket, create_repo

    kind, namespace, name = [*path.split("/"), "", ""][:3]
    if kind == "buckets":
        create_bucket(f"{namespace}/{name}", private=True, exist_ok=True)
    elif kind == "datasets":
        create_repo(f"{namespace}/{name.partition('@')[0]}", private=True, repo_type="dataset", exist_ok=True)


def _folder_at(place: str) -> "DataFolder":
    from datatrove.io import get_datafolder

    return get_datafolder(place)
