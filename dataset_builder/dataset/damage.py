"""Reads a whole file of the dataset and compares it with what was written: its values, and each picture's hash."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from convergebench.generation.pictures import Undecodable, decode, pixel_hash
from convergebench.generation.records import UserError

from . import manifest
from .digests import TableDigest
from .reader import Place, Reader, UnreadableFile
from .rows import made_by

Row = Mapping[str, Any]


def check_file(reader: Reader, file: str, look: Callable[[Row], None] = lambda row: None) -> None:
    """Raise one UserError with the first thing that is not as it was written; `look` is shown every row."""
    read = TableDigest()
    with reader.damage_explained(file), reader.open(file) as opened:
        for group in range(opened.num_row_groups):
            part = opened.read_row_group(group)
            read.update(part)
            for number, row in enumerate(part.to_pylist()):
                look(row)
                check_picture(reader, Place(file, group, number), row)
    reader.check_values(file, read)


def check_values(reader: Reader, file: str) -> None:
    """Raise where the values of a table are not those that were written; it holds one row group of them at a time."""
    read = TableDigest()
    with reader.damage_explained(file):
        for group in range(reader.footer(file).num_row_groups):
            read.update(reader.read(file, group))
    reader.check_values(file, read)


def refuse_missing(folder: Path, besides: str = "") -> None:
    """Raise where a table that was written is not there any more: without it the numbers would be others."""
    written, replacing = manifest.read(folder)
    for file in sorted(written.keys() - replacing):
        if file.startswith("data/") and file.split("/")[1] != besides and not (folder / file).exists():
            raise UnreadableFile(f"{folder / file} is missing; restore it, or let {made_by(file)} make it anew")


def check_picture(reader: Reader, place: Place, row: Row) -> None:
    """Raise where the picture of a row is not the one of its hash, or is not there though its row says so."""
    file, image, reference = place.file, row.get("image"), row.get("reference")
    if file.startswith("data/steps/"):
        step = f"{file}: step {row['step']} of chain {row['chain']}"
        if (image is None) == (row["status"] in ("input", "ok", "shrunk")):
            raise UserError(f"{step} is {row['status']!r} but {'has no' if image is None else 'has a'} picture")
        if image and sha256(image["bytes"]).hexdigest() != row["sha256"]:
            raise UserError(f"{step} is not the picture of its sha256")
    if file.startswith("data/sources/") and image and not is_source(image["bytes"], row["sha256"]):
        raise UserError(f"{file}: source {row['source']} is not the picture of its sha256")
    if file.startswith("data/chains/") and reference:
        known = reader.reference_hash(place)
        if known and sha256(reference["bytes"]).hexdigest() != known:
            raise UserError(f"{file}: the reference of chain {row['chain']} is not the one that was written")


def is_source(data: bytes, digest: str) -> bool:
    """Whether a source's bytes, or the pixels of one that was painted, have this sha256."""
    if sha256(data).hexdigest() == digest:
        return True
    try:
        return pixel_hash(decode(data)) == digest
    except Undecodable:
        return False
