"""What a task on a machine of its own has finished, carried to a place that all machines reach, and back.

PLACE/00003/000000.tar, 000001.tar ...   what task 3 finished, in its order; each holds what is new since the one before
"""

import io
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAUSE = 300.0  # seconds between two parcels; each may be a commit, of which a Hub repository takes 128 an hour
AGAIN = (1.0, 5.0, 30.0, 120.0)  # seconds before what could not be sent in the end is sent again


@dataclass(frozen=True)
class Carry:
    """Between a task's folder and a place such as hf://buckets/ME/BUCKET/FOLDER."""

    place: str
    finished: Callable[[Path], Iterable[Path]]  # the files of a folder that are whole and will be needed
    word: str  # under which the work is told the folder
    shared: bool = False  # whether a task needs what the others finished
    given: str = ""  # another place, from which every task is given what was there before the launch
    pause: float = field(default_factory=lambda: PAUSE)

    @contextmanager
    def carried(self, rank: int) -> Iterator[dict[str, Path]]:
        """A folder with what was finished before; what is finished there is sent while the block runs and after it."""
        with tempfile.TemporaryDirectory(prefix="convergebench-") as name:
            folder = Path(name) / "run"
            folder.mkdir()
            if self.given:
                fetch(self.given, folder)
            number = fetch(self.place, folder, None if self.shared else rank, rank)
            parcels = Parcels(self.place, folder, self.finished, rank, number)
            parcels.sent = parcels.new()  # what was brought is there already

            try:
                with repeated(parcels.send, self.pause):  # what stays unsent goes with the next parcel
                    yield {self.word: folder}
            finally:
                parcels.send_surely()


@dataclass
class Parcels:
    """The archives that one task sends."""

    place: str
    folder: Path
    finished: Callable[[Path], Iterable[Path]]
    rank: int
    number: int
    sent: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def new(self) -> dict[Path, tuple[int, int]]:
        """The files that were not sent as they are now, in their order."""
        about = {path: path.stat() for path in self.finished(self.folder)}
        states = {path: (each.st_size, each.st_mtime_ns) for path, each in about.items()}
        return {path: state for path, state in states.items() if self.sent.get(path) != state}

    def send(self) -> None:
        new = self.new()
        if new:
            named = [(path, path.relative_to(self.folder).as_posix()) for path in new]
            send(self.place, f"{self.rank:05d}/{self.number:06d}.tar", named)
            self.number += 1
            self.sent |= new

    def send_surely(self) -> None:
        """Send the last parcel; without it what the task did is lost, so that it is tried several times."""
        for pause in AGAIN:
            with suppress(Exception):  # whatever the place's library raises; the last attempt says what it is
                self.send()
            if not self.new():
                return
            time.sleep(pause)
        self.send()


def send(place: str, name: str, files: Iterable[tuple[Path | bytes, str]]) -> None:
    """Send files, or bytes, under other names as one parcel, however large."""
    with place_of(place).open(name, "wb") as file, tarfile.open(fileobj=file, mode="w|") as archive:
        for content, called in files:
            if isinstance(content, bytes):
                about = tarfile.TarInfo(called)
                about.size = len(content)
                archive.addfile(about, io.BytesIO(content))
            else:
                archive.add(content, called)


def names_at(place: str, of: int | None = None) -> list[str]:
    """The parcels that tasks have sent, or one of them, in their order."""
    there = place_of(place)
    there.invalidate_cache()
    try:
        found = there.list_files("" if of is None else f"{of:05d}", glob_pattern=None)
    except FileNotFoundError:
        return []
    return sorted(name for name in found if name.endswith(".tar"))


def unpack(place: str, name: str, folder: Path) -> None:
    with place_of(place).open(name, "rb") as file, tarfile.open(fileobj=file, mode="r|") as archive:
        archive.extractall(folder, filter="data")


def fetch(place: str, folder: Path, of: int | None = None, rank: int = -1, known: set[str] | None = None) -> int:
    """Unpack what tasks have sent, or one of them; says how many parcels the task of that rank has sent.

    What is `known` is left out, and what was unpacked is added to it.
    """
    names, known = names_at(place, of), known if known is not None else set()
    for name in names:
        if name not in known:
            unpack(place, name, folder)
            known.add(name)
    return sum(name.startswith(f"{rank:05d}/") for name in names)


@contextmanager
def arriving(place: str, folder: Path, pause: float | None = None) -> Iterator[None]:
    """Unpack what tasks send as it comes: before the block, while it runs, and after it."""
    known: set[str] = set()

    def fetch_new() -> None:
        fetch(place, folder, known=known)

    fetch_new()
    try:
        with repeated(fetch_new, PAUSE if pause is None else pause):
            yield
    finally:
        fetch_new()


@contextmanager
def repeated(work: Callable[[], object], pause: float) -> Iterator[None]:
    """Do something every so many seconds in a thread of its own, while the block runs.

    Whatever the place's library raises there is passed over: what was not done is done the next time.
    """
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(pause):
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
    """Create the Hub's bucket or repository that a place is in, where there is none; other places are there already."""
    protocol, _, path = place.partition("://")
    if protocol != "hf":
        return
    from huggingface_hub import create_bucket, create_repo

    kind, namespace, name = [*path.split("/"), "", ""][:3]
    if kind == "buckets":
        create_bucket(f"{namespace}/{name}", private=True, exist_ok=True)
    elif kind == "datasets":
        create_repo(f"{namespace}/{name.partition('@')[0]}", private=True, repo_type="dataset", exist_ok=True)


def remove(place: str) -> None:
    """Remove all parcels of a place."""
    there = place_of(place)
    with suppress(FileNotFoundError):
        there.rm("", recursive=True)


def place_of(place: str) -> Any:
    from datatrove.io import get_datafolder

    return get_datafolder(place)
