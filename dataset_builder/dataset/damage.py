"""Checks that files hold what was written, and that no table is missing."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from convergebench.generation.pictures import Undecodable, decode, pixel_hash
from convergebench.generation.records import PICTURED, UserError

from . import manifest
from .columns import Values
from .reader import Reader, UnreadableFile
from .rows import made_by


def check_file(reader: Reader, file: str, look: Callable[[Values], None] | None = None) -> None:
    """Raise UserError for the first value or picture that is not as written."""
    table = file.split("/")[1]
    check = {"steps": _check_step, "sources": _check_source}.get(table)
    if look or check:
        for row in reader.file_rows(file):
            if look:
                look(row)
            if check:
                check(file, row)
    else:
        reader.file_table(file)
    for place in reader.places(table) if table == "chains" else ():
        if place.file == file:
            reader.picture_at(place, "reference")


def refuse_missing(folder: Path, besides: str = "") -> None:
    """Raise if a listed table, other than `besides`, is gone."""
    written, replacing = manifest.read(folder)
    for file in sorted(written.keys() - replacing):
        if file.startswith("data/") and file.split("/")[1] != besides and not (folder / file).exists():
            raise UnreadableFile(f"{folder / file} is missing; restore it, or let {made_by(file)} rewrite it")


def _check_step(file: str, row: Values) -> None:
    image, step = row["image"], f"{file}: step {row['step']} of chain {row['chain']}"
    if (image is None) == (row["status"] in PICTURED):
        raise UserError(f"{step} is {row['status']!r} but {'has no' if image is None else 'has a'} picture")
    if image and sha256(image["bytes"]).hexdigest() != row["sha256"]:
        raise UserError(f"{step} is not the picture of its sha256")


def _check_source(file: str, row: Values) -> None:
    data = row["image"]["bytes"] if row["image"] else b""
    if sha256(data).hexdigest() == row["sha256"]:
        return
    try:
        is_same = pixel_hash(decode(data)) == row["sha256"]
    except Undecodable:
        is_same = False
    if not is_same:
        raise UserError(f"{file}: source {row['source']} is not the picture of its sha256")
