"""Checks that the dataset's files hold the values and pictures that were written, and that no table is missing."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from convergebench.generation.pictures import Undecodable, decode, pixel_hash
from convergebench.generation.records import PICTURED, UserError

from . import manifest
from .columns import Values
from .manifest import TableDigest
from .reader import Place, Reader, UnreadableFile
from .rows import made_by
from .schema import IMAGE


def check_file(reader: Reader, file: str, look: Callable[[Values], None] | None = None) -> None:
    """Raise UserError for the first value or picture that is not as written; `look` is called with each row."""
    digest = TableDigest()
    with reader.damage_explained(file), reader.open(file) as opened:
        has_pictures = any(field.type == IMAGE for field in opened.schema_arrow)
        for group in range(opened.num_row_groups):
            part = opened.read_row_group(group)
            digest.update(part)
            for number, row in enumerate(part.to_pylist() if look or has_pictures else ()):
                if look:
                    look(row)
                _check_picture(reader, Place(file, group, number), row)
    reader.check_values(file, digest)


def refuse_missing(folder: Path, besides: str = "") -> None:
    """Raise if a written table is gone, because the numbers would differ without it; ignores the table `besides`."""
    written, replacing = manifest.read(folder)
    for file in sorted(written.keys() - replacing):
        if file.startswith("data/") and file.split("/")[1] != besides and not (folder / file).exists():
            raise UnreadableFile(f"{folder / file} is missing; restore it, or let {made_by(file)} make it anew")


def _check_picture(reader: Reader, place: Place, row: Values) -> None:
    """Raise if a row's picture does not match its hash, or is present or absent against the row's status."""
    file, table = place.file, place.file.split("/")[1]
    if table == "steps":
        image, step = row["image"], f"{file}: step {row['step']} of chain {row['chain']}"
        if (image is None) == (row["status"] in PICTURED):
            raise UserError(f"{step} is {row['status']!r} but {'has no' if image is None else 'has a'} picture")
        if image and sha256(image["bytes"]).hexdigest() != row["sha256"]:
            raise UserError(f"{step} is not the picture of its sha256")
    elif table == "sources" and row["image"] and not _is_source(row["image"]["bytes"], row["sha256"]):
        raise UserError(f"{file}: source {row['source']} is not the picture of its sha256")
    elif table == "chains" and row["reference"]:
        written = reader.reference_hash(place)
        if written and sha256(row["reference"]["bytes"]).hexdigest() != written:
            raise UserError(f"{file}: the reference of chain {row['chain']} is not the one that was written")


def _is_source(data: bytes, digest: str) -> bool:
    """Whether a source's bytes, or its pixels if it was painted, have this sha256."""
    if sha256(data).hexdigest() == digest:
        return True
    try:
        return pixel_hash(decode(data)) == digest
    except Undecodable:
        return False
