"""Uses the pictures in a user's own folder as sources."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from ..pictures import Undecodable, decode
from ..records import KINDS, UNKNOWN, UserError, Values, check_fields, check_types
from .catalogue import Row

_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".bmp", ".gif", ".tif", ".tiff")
_FIELDS = ("file", "id", "kind", "origin", "licence", "attribution", "title", "unfit")


def find(folder: Path, rows: Sequence[Values] = (), kind: str | None = None) -> dict[str, Row]:
    """The pictures of a folder by their ids, which are by default their names without the extension.

    The kind comes from `rows`, `kind`, or a subfolder named face, object, scene, texture or text.
    """
    if not folder.is_dir():
        raise UserError(f"no such folder: {folder}; --pictures must name a folder of pictures")
    for row in rows:
        what = f"picture {row.get('file', '?')!r}"
        check_fields(what, row, _FIELDS, ["file"])
        check_types(what, Row, row)
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _ENDINGS and path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    if not names:
        raise UserError(f"{folder} has no pictures; they end in {', '.join(_ENDINGS)}")
    row_by_file = {str(row["file"]): row for row in rows}
    if unknown := [file for file in row_by_file if file not in names]:
        raise UserError(f"{folder} has no picture {unknown[0]!r}; it has {', '.join(list(names)[:5])}")
    pictures: dict[str, Row] = {}
    for name, path in names.items():
        folder_kind = path.parent.name if path.parent.name in KINDS else None
        picture = _read_row(path, row_by_file.get(name, {}), kind or folder_kind)
        if picture.id in pictures:
            earlier = pictures[picture.id].path
            raise UserError(f"{path} and {earlier} would both be called {picture.id!r}; rename one of them")
        pictures[picture.id] = picture
    return pictures


def _read_row(path: Path, row: Values, kind: str | None) -> Row:
    data = path.read_bytes()
    try:
        picture = decode(data)
    except Undecodable as error:
        raise UserError(f"{path} is {error}") from error
    if (chosen := row.get("kind", kind)) is None:
        raise UserError(
            f"{path} has no kind, which decides what programs fit it: give --pictures-kind, put it into a folder named "
            f"{', '.join(KINDS)}, or give its [[picture]] a kind"
        )
    return Row(
        id=row.get("id") or re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "picture",
        title=row.get("title", path.stem),
        kind=str(chosen),
        origin=row.get("origin", "real"),
        package="own",
        path=str(path),
        sha256=hashlib.sha256(data).hexdigest(),
        width=picture.width,
        height=picture.height,
        licence=row.get("licence", UNKNOWN),
        attribution=row.get("attribution", UNKNOWN),
        unfit=tuple(row.get("unfit", ())),
    )


def read(picture: Row) -> bytes:
    """The file's bytes; raises UserError if it was changed since it was found."""
    data = Path(picture.path).read_bytes()
    if hashlib.sha256(data).hexdigest() != picture.sha256:
        raise UserError(f"{picture.path} was changed since the run was planned; give the same command again")
    return data
