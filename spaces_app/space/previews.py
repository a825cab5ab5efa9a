"""Pictures for the browser: made once from the bytes as received, kept as files in a cache of limited size."""

import hashlib
import io
import os
import re
import tempfile
import threading
import time
from functools import lru_cache
from pathlib import Path

import numpy as np
from convergebench.generation import pictures
from convergebench.generation.records import UserError
from PIL import Image, ImageChops

from .errors import NoPicture
from .served_dataset import ServedDataset

KINDS = ("thumb", "view", "difference", "received")
GAINS = (1, 2, 4, 8, 16, 32)
SIDES = {"thumb": 176, "view": 1024, "difference": 1024}
MOST_PIXELS = 40_000_000
LIMIT = 1_000_000_000  # bytes
JUST_MADE = 120.0  # seconds for which a file that was just made is not cleared away
ENDINGS = ("png", "jpg", "webp")  # what every browser shows
OWN_NAME = re.compile(r"[0-9a-f]{32}\.(png|jpg|webp)|\w+-[0-9a-f]{16}\.csv|part-\w+")
USER = os.getuid() if hasattr(os, "getuid") else "user"  # others may have a cache in the same place


class Previews:
    """Gives paths of pictures; every file lies in one folder, under a name made of hashes alone."""

    def __init__(self, dataset: ServedDataset, folder: Path | None = None, limit: int = LIMIT):
        self.dataset = dataset
        self.folder = folder or cache_folder(dataset)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.limit = limit
        self.size = sum(path.stat().st_size for path in self.own_files())
        self.locks = [threading.Lock() for _ in range(64)]
        self.clearing = threading.Lock()
        self.decoding = threading.BoundedSemaphore(os.cpu_count() or 2)  # a decoded picture is large
        self.original = lru_cache(maxsize=4)(self._original)

    def path(self, chain: str, step: int, kind: str = "view", gain: int = 8) -> Path:
        """The file of one step's picture; made if nobody has asked for it before."""
        if kind not in KINDS:
            raise UserError(f"no picture of kind {str(kind)[:40]!r}; the kinds are {', '.join(KINDS)}")
        if gain not in GAINS:
            raise UserError(f"gain is {str(gain)[:40]!r}; it is one of {', '.join(map(str, GAINS))}")
        self.dataset.chain(chain)
        name = hashlib.sha256(f"{chain} {step} {kind} {gain if kind == 'difference' else ''}".encode()).hexdigest()[:32]
        with self.locks[int(name[:2], 16) % len(self.locks)]:
            for ending in ENDINGS:
                path = self.folder / f"{name}.{ending}"
                if path.exists():
                    os.utime(path)
                    return path
            return self.write_preview(chain, step, kind, gain, name)

    def write_preview(self, chain: str, step: int, kind: str, gain: int, name: str) -> Path:
        data = self.received(chain, step)
        with self.decoding:
            if kind == "received":
                decode(data)  # nothing is handed on that a browser might choke on
                if (kind := pictures.sniff(data)) not in ENDINGS:
                    raise NoPicture(f"the original file is {kind}; only {', '.join(ENDINGS)} are handed on as they are")
                return self.write(f"{name}.{kind}", data)
            picture = decode(data)
            if kind == "difference":
                picture = difference(self.original(chain), picture, gain)
            picture.thumbnail((SIDES[kind], SIDES[kind]), Image.Resampling.LANCZOS, reducing_gap=2.0)
            return self.write(f"{name}.jpg", as_jpeg(picture, 80 if kind == "thumb" else 92))

    def received(self, chain: str, step: int) -> bytes:
        """The bytes as received, or why there are none."""
        found = self.dataset.step(chain, step)
        data = self.dataset.reader.picture(chain, step)
        if not data:
            status = found.status.replace("_", " ")
            raise NoPicture(found.reason or f"the editor's answer was {status}, not a picture")
        return data

    def _original(self, chain: str) -> Image.Image:
        return decode(self.received(chain, 0))

    def keep(self, name: str, data: bytes) -> Path:
        """Any other small file that is offered for download, made once."""
        path = self.folder / name
        with self.locks[len(data) % len(self.locks)]:
            if path.exists():
                os.utime(path)
                return path
            return self.write(name, data)

    def own_files(self) -> list[Path]:
        """What was written here; a stranger's file under another name is neither counted nor removed."""
        return [path for path in self.folder.iterdir() if OWN_NAME.fullmatch(path.name) and path.is_file()]

    def write(self, name: str, data: bytes) -> Path:
        """Write a file whole; where there is no room, remove those that nobody asked for longest.

        Unlike data, a preview need not survive a power cut: nothing waits for the disk.
        """
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix="part-", delete=False) as file:
            file.write(data)
        path = Path(file.name).replace(self.folder / name)
        path.chmod(0o644)
        self.size += len(data)
        if self.size > self.limit and self.clearing.acquire(blocking=False):
            try:
                self.clear()
            finally:
                self.clearing.release()
        return path

    def clear(self) -> None:
        """Down to nine tenths of the limit; files that were just asked for stay, somebody is about to fetch them."""
        files = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in self.own_files())
        left = sum(size for _, size, _ in files)
        for used, size, path in files:
            if left <= 0.9 * self.limit or used > time.time() - JUST_MADE:
                break
            path.unlink(missing_ok=True)
            left -= size
        self.size = left


def cache_folder(dataset: ServedDataset) -> Path:
    """One folder for each state of a dataset, so that a rebuilt one never shows old pictures."""
    about = [str(dataset.folder.resolve())]
    for path in sorted(dataset.folder.glob("data/**/*.parquet")):
        about.append(f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}")
    root = os.environ.get("CONVERGEBENCH_PREVIEWS")
    base = Path(root) if root else Path(tempfile.gettempdir()) / f"convergebench-previews-{USER}"
    return (base / hashlib.sha256("\n".join(about).encode()).hexdigest()[:16]).resolve()


def decode(data: bytes, most_pixels: int = MOST_PIXELS) -> Image.Image:
    """The picture as the scores see it, or why it cannot be shown."""
    try:
        return pictures.decode(data, most_pixels)
    except pictures.Undecodable as error:
        raise NoPicture(f"it cannot be shown: it is {error}") from error


def difference(original: Image.Image, picture: Image.Image, gain: int) -> Image.Image:
    """How far each channel is from the original, amplified."""
    if picture.size != original.size:
        picture = Image.fromarray(pictures.resize_to(np.asarray(picture), *original.size))
    return ImageChops.difference(original, picture).point(lambda value: min(255, value * gain))


def as_jpeg(picture: Image.Image, quality: int) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality, subsampling=0)
    return buffer.getvalue()
