"""Uses the pictures in a user's own folder as sources."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..pictures import Undecodable, decode
from ..records import KINDS, UNKNOWN, Source, UserError, Values, check_fields, check_types

_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".bmp", ".gif", ".tif", ".tiff")
_ABOUT = ("file", "id", "kind", "origin", "licence", "attribution", "title", "unfit")


@dataclass(frozen=True)
class OwnPicture:
    """One of the user's own pictures: its file, and what is known of it."""

    path: Path
    source: Source
    unfit: tuple[str, ...] = ()  # programs that make no sense here

    def read(self) -> bytes:
        data = self.path.read_bytes()
        if hashlib.sha256(data).hexdigest() != self.source.sha256:
            raise UserError(f"{self.path} was changed since the run was planned; give the same command again")
        return data


def find(folder: Path, rows: Sequence[Values] = (), kind: str | None = None) -> dict[str, OwnPicture]:
    """The pictures of a folder by their ids, which are by default their names without the extension.

    The kind comes from `rows`, `kind`, or a subfolder named face, object, scene, texture or text.
    """
    if not folder.is_dir():
        raise UserError(f"no such folder: {folder}; --pictures must name a folder of pictures")
    row_by_file = {_row_file(row): row for row in rows}
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _ENDINGS and path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    if not names:
        raise UserError(f"{folder} has no pictures; they end in {', '.join(_ENDINGS)}")
    if unknown := [file for file in row_by_file if file not in names]:
        raise UserError(f"{folder} has no picture {unknown[0]!r}; it has {', '.join(list(names)[:5])}")
    pictures: dict[str, OwnPicture] = {}
    for name, path in names.items():
        folder_kind = path.parent.name if path.parent.name in KINDS else None
        picture = _read_picture(path, row_by_file.get(name, {}), kind or folder_kind)
        if picture.source.id in pictures:
            earlier = pictures[picture.source.id].path
            raise UserError(f"{path} and {earlier} would both be called {picture.source.id!r}; rename one of them")
        pictures[picture.source.id] = picture
    return pictures


def _row_file(row: Values) -> str:
    """The file that a [[picture]] row names; raises UserError if the row is not valid."""
    what = f"picture {row.get('file', '?')!r}"
    check_fields(what, row, _ABOUT, ["file"])
    check_types(what, Source, {key: value for key, value in row.items() if key != "file"})
    check_types(what, OwnPicture, {"unfit": row.get("unfit", [])})
    return str(row["file"])


def _read_picture(path: Path, row: Values, kind: str | None) -> OwnPicture:
    """One picture, with the values of its row."""
    data = path.read_bytes()
    try:
        picture = decode(data)
    except Undecodable as error:
        raise UserError(f"{path} is {error}") from error
    chosen = row.get("kind", kind)
    if chosen is None:
        raise UserError(
            f"{path} has no kind, which decides what programs fit it: give --pictures-kind, put it into a folder named "
            f"{', '.join(KINDS)}, or give its [[picture]] a kind"
        )
    source = Source(
        id=row.get("id") or re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "picture",
        sha256=hashlib.sha256(data).hexdigest(),
        width=picture.width,
        height=picture.height,
        kind=str(chosen),
        origin=row.get("origin", "real"),
        licence=row.get("licence", UNKNOWN),
        attribution=row.get("attribution", UNKNOWN),
        title=row.get("title", path.stem),
    )
    return OwnPicture(path, source, tuple(row.get("unfit", ())))
