"""Pictures for the browser, made once and cached as files."""

import contextlib
import hashlib
import io
import os
import re
import stat
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np
from convergebench.generation import pictures
from convergebench.generation.records import UserError
from PIL import Image, ImageChops, ImageDraw

from ..analysis.reasons import lost_outline, lost_places
from ..crops import Place, box_around, changed_place
from .served_dataset import NoPicture, ServedDataset, check_allowed

KINDS = ("thumb", "small", "view", "difference", "crop", "lost", "reference", "received")
GAINS = (1, 2, 4, 8, 16, 32)
_SIDES = {"thumb": 176, "small": 448}  # pixels; 1024 of the other whole pictures
_CROP_SIDE, _CUT = 360, ("crop", "lost")
_MARKS = (("#ffffff", 5), ("#b84900", 3))  # around what was lost: colour, and width in a picture of 360 pixels
_LIMIT = 1_000_000_000  # bytes
JUST_MADE = 120.0  # seconds during which a new file is not removed
_ENDINGS = ("png", "jpg", "webp")  # what every browser shows
IMAGES = re.compile(r"[0-9a-f]{32}\.(png|jpg|webp)")
_OWN_NAME = re.compile(rf"{IMAGES.pattern}|part-\w+")
_USER = os.getuid() if hasattr(os, "getuid") else "user"  # another user may have a cache in the same folder


class Previews:
    def __init__(self, dataset: ServedDataset, folder: Path | None = None, limit: int = _LIMIT):
        self.dataset, self.limit = dataset, limit
        self.folder = folder or cache_folder(dataset)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.size = sum(size for _, size, _ in self._own_files())
        self.clearing = threading.Lock()
        # A decoded picture is large, and glibc keeps what a thread
        # has freed, so few threads decode for all requests.
        self.workers = ThreadPoolExecutor(os.cpu_count() or 2, "previews")
        self.original = lru_cache(maxsize=2)(self._reference)
        self.places = lru_cache(maxsize=512)(self._places)

    def path(self, chain: str, step: int, kind: str = "view", gain: int = 8, at: str = "") -> Path:
        """The file of one step's picture, made on first use.

        `at` is for crops: a chain and a step, with a space between; the crop holds what its
        edit and that step changed most; `lost` is the same with what the step lost outlined.
        """
        check_allowed("kind", [kind], KINDS)
        check_allowed("gain", [str(gain)], [str(gain) for gain in GAINS])
        self.dataset.chain(chain)
        anchor = re.fullmatch(r"(\S*) (\d{1,6})", (at or f"{chain} {step}") if kind in _CUT else " 0")
        if anchor is None:
            raise UserError(
                f"no place {at[:40]!r}; it must be the id of a chain and a step, with a space between"
            )
        if kind in _CUT:
            self.dataset.chain(anchor[1])
        key = f"{chain} {step} {kind} {gain if kind == 'difference' else ''} {anchor[0]}"
        name = hashlib.sha256(key.encode()).hexdigest()[:32]
        for ending in _ENDINGS:
            path = self.folder / f"{name}.{ending}"
            if path.is_file():
                os.utime(path)
                return path
        return self.workers.submit(self._write_preview, chain, step, kind, gain, name, anchor).result()

    def _write_preview(self, chain: str, step: int, kind: str, gain: int, name: str, at: re.Match[str]) -> Path:
        data = b"" if kind == "reference" else self._received(chain, step)
        picture = decode(data) if data else self.original(chain)
        if kind == "received":  # its bytes too are sent only if a browser can show them
            if (type := pictures.sniff(data)) not in _ENDINGS:
                raise NoPicture(f"the original file is {type}; only {', '.join(_ENDINGS)} are sent unchanged")
            return self._write(f"{name}.{type}", data)
        if kind == "difference":
            picture = _difference(self.original(chain), picture, gain)
        if kind in _CUT:
            outlined = lost_outline(self.dataset.scores_of(chain).get(step)) if kind == "lost" else []
            picture = self._crop(picture, outlined, at)
        else:
            picture = picture.copy()
            side = _SIDES.get(kind, 1024)
            picture.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=2.0)
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=80 if kind == "thumb" else 92, subsampling=0)
        return self._write(f"{name}.jpg", buffer.getvalue())

    def _reference(self, chain: str) -> Image.Image:
        """What a chain's steps are compared with."""
        return decode(self.dataset.reader.reference(chain) or self._received(chain, 0))

    def _crop(
        self, picture: Image.Image, polygons: list[list[list[float]]], anchor: re.Match[str]
    ) -> Image.Image:
        left, top, right, bottom = box_around(picture.size, self.places(anchor[1], int(anchor[2])))
        scale = _CROP_SIDE / max(right - left, bottom - top)
        size = round((right - left) * scale), round((bottom - top) * scale)
        shown = picture.resize(size, Image.Resampling.LANCZOS, box=(left, top, right, bottom))
        draw = ImageDraw.Draw(shown)
        for polygon in polygons:
            points = [
                ((x * picture.width - left) * scale, (y * picture.height - top) * scale) for x, y in polygon
            ]
            for colour, width in _MARKS:
                draw.line([*points, points[0]], colour, width, joint="curve")
        return shown

    def _received(self, chain: str, step: int) -> bytes:
        answered = self.dataset.step(chain, step)
        data = self.dataset.reader.picture(chain, step)
        if not data:
            raise NoPicture(answered.reason or f"no picture; the step's status is {answered.status}")
        return data

    def _own_files(self) -> list[tuple[float, int, Path]]:
        """When each file that was written here was used, and its size; others are neither counted nor removed."""
        previews = [path for path in self.folder.iterdir() if _OWN_NAME.fullmatch(path.name) and path.is_file()]
        return sorted((path.stat().st_mtime, path.stat().st_size, path) for path in previews)

    def _places(self, chain: str, step: int) -> list[Place]:
        places = lost_places(self.dataset.scores_of(chain).get(step))
        for number in (1,) if places else (1, step):
            with contextlib.suppress(UserError):  # the editor may have refused
                places.append(changed_place(self.original(chain), decode(self._received(chain, number))))
        return places

    def _write(self, name: str, data: bytes) -> Path:
        """Write a file atomically, without a sync: it need not survive a power cut."""
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix="part-", delete=False) as file:
            file.write(data)
        path = Path(file.name).replace(self.folder / name)
        path.chmod(0o644)
        self.size += len(data)
        if self.size > self.limit and self.clearing.acquire(blocking=False):
            try:
                self._remove_least_used()
            finally:
                self.clearing.release()
        return path

    def _remove_least_used(self) -> None:
        """Down to nine tenths of the limit, except new files that a browser has yet to fetch."""
        files = self._own_files()
        self.size = sum(size for _, size, _ in files)
        for used, size, path in files:
            if self.size <= 0.9 * self.limit or used > time.time() - JUST_MADE:
                break
            path.unlink(missing_ok=True)
            self.size -= size


previews_of = lru_cache(maxsize=1)(Previews)  # of a dataset


def cache_folder(dataset: ServedDataset) -> Path:
    """One folder for each state of a dataset."""
    files = [(path.name, path.stat()) for path in sorted(dataset.folder.glob("data/**/*.parquet"))]
    state = [str(dataset.folder.resolve()), *(f"{name} {of.st_size} {of.st_mtime_ns}" for name, of in files)]
    if root := os.environ.get("CONVERGEBENCH_PREVIEWS"):
        base = Path(root)
    else:
        base = Path(tempfile.gettempdir()) / f"convergebench-previews-{_USER}"
        _refuse_others(base)
    return (base / hashlib.sha256("\n".join(state).encode()).hexdigest()[:16]).resolve()


def _refuse_others(folder: Path) -> None:
    """Make a private folder; another user's folder might hold any picture."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    is_shared = hasattr(os, "getuid") and (status.st_uid != _USER or status.st_mode & 0o022)
    if is_shared or not stat.S_ISDIR(status.st_mode):
        raise UserError(f"{folder} can be changed by other users; remove it or set CONVERGEBENCH_PREVIEWS")


def decode(data: bytes) -> Image.Image:
    """The picture as the scores see it, or why it cannot be shown."""
    try:
        return pictures.decode(data, 40_000_000)
    except pictures.Undecodable as error:
        raise NoPicture(f"it cannot be shown: it is {error}") from error


def _difference(original: Image.Image, picture: Image.Image, gain: int) -> Image.Image:
    if picture.size != original.size:
        picture = Image.fromarray(pictures.resize_to(np.asarray(picture), *original.size))
    return ImageChops.difference(original, picture).point(lambda value: min(255, value * gain))
