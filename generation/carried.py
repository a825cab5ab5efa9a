"""What a task on a machine of its own has finished, carried to a place that all machines reach, and back.

PLACE/00003/000000.tar, 000001.tar ...   what task 3 finished, in its order; each holds what is new since the one before
"""

import io
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAUSE = 300.0  # seconds between two parcels; each may be a commit, of which a Hub repository takes 128 an hour


@dataclass(frozen=True)
class Carry:
    """Between a task's folder and a place such as hf://buckets/ME/BUCKET/FOLDER."""

    place: str
    finished: Callable[[Path], Iterable[Path]]  # the files of a folder that are whole and will be needed
    word: str  # under which the work is told the folder
    shared: bool = False  # whether a task needs what the others finished
    pause: float = field(default_factory=lambda: PAUSE)

    @contextmanager
    def carried(self, rank: int) -> Iterator[dict[str, Path]]:
        """A folder with what was finished before; what is finished there is sent while the block runs and after it."""
        with tempfile.TemporaryDirectory(prefix="convergebench-") as name:
            folder, ended = Path(name) / "run", threading.Event()
            folder.mkdir()
            number = fetch(self.place, folder, None if self.shared else rank, rank)
            parcels = Parcels(self.place, folder, self.finished, rank, number)
            parcels.pack()  # what was brought is there already

            def keep_sending() -> None:
                while not ended.wait(self.pause):
                    parcels.send()

            sender = threading.Thread(target=keep_sending, daemon=True)
            sender.start()
            try:
                yield {self.word: folder}
            finally:
                ended.set()
                sender.join()
                parcels.send()


@dataclass
class Parcels:
    """The archives that one task sends."""

    place: str
    folder: Path
    finished: Callable[[Path], Iterable[Path]]
    rank: int
    number: int

    def __post_init__(self) -> None:
        self.sent: dict[Path, tuple[int, int]] = {}

    def pack(self) -> bytes:
        """An archive of what is new; nothing where nothing is."""
        new = {}
        for path in self.finished(self.folder):
            about = path.stat()
            if self.sent.get(path) != (about.st_size, about.st_mtime_ns):
                new[path] = about.st_size, about.st_mtime_ns
        self.sent |= new
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for path in new:
                archive.add(path, path.relative_to(self.folder).as_posix())
        return buffer.getvalue() if new else b""

    def send(self) -> None:
        data = self.pack()
        if data:
            with place_of(self.place).open(f"{self.rank:05d}/{self.number:06d}.tar", "wb") as file:
                file.write(data)
            self.number += 1


def fetch(place: str, folder: Path, of: int | None = None, rank: int = -1) -> int:
    """Unpack what tasks have sent, or one of them; says how many parcels the task of that rank has sent."""
    there = place_of(place)
    there.invalidate_cache()
    try:
        found = there.list_files("" if of is None else f"{of:05d}", glob_pattern=None)
    except FileNotFoundError:
        return 0
    names = sorted(name for name in found if name.endswith(".tar"))
    for name in names:
        with there.open(name, "rb") as file, tarfile.open(fileobj=file, mode="r|") as archive:
            archive.extractall(folder, filter="data")
    return sum(name.startswith(f"{rank:05d}/") for name in names)


def place_of(place: str) -> Any:
    from datatrove.io import get_datafolder

    return get_datafolder(place)
