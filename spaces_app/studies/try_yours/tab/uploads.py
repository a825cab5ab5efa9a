"""The pictures of an upload in their order."""

import io
import re
import zipfile
from collections.abc import Sequence

from convergebench.generation import pictures
from convergebench.generation.records import UserError

MOST_RETURNS = 60
_MOST_BYTES = 60_000_000  # of all pictures together, unpacked
MOST_FILE_BYTES = 25_000_000
_MOST_PIXELS = 16_800_000  # of one picture
_LEAST_SIDE = 64
_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff")

File = tuple[str, bytes]  # name and content


def inspect(file: File) -> tuple[str, int, int]:
    """The type and size of an uploaded picture that can be scored."""
    name, data = file
    if len(data) > MOST_FILE_BYTES:
        raise UserError(f"{_quoted(name)} has {len(data):,} bytes; at most {MOST_FILE_BYTES:,} are read")
    try:
        width, height = pictures.decode(data, _MOST_PIXELS).size
    except pictures.Undecodable as error:
        raise UserError(f"{_quoted(name)} cannot be scored: it is {error}") from error
    if min(width, height) < _LEAST_SIDE:
        raise UserError(f"{_quoted(name)} is {width}x{height}; at least {_LEAST_SIDE} pixels a side are needed")
    return pictures.sniff(data), width, height


def check_series(returns: Sequence[File], edits: Sequence[File]) -> None:
    """Refuses a series that cannot be scored, before a picture is decoded."""
    if not returns:
        raise UserError("no returns were given; add the pictures that came back, or one zip of them")
    if len(returns) > MOST_RETURNS:
        raise UserError(f"{len(returns)} returns were given; at most {MOST_RETURNS} are scored at once")
    if edits and len(edits) != len(returns):
        raise UserError(f"{len(edits)} edits and {len(returns)} returns were given; give one edit for each return")
    _check_size([*returns, *edits])


def _check_size(files: Sequence[File]) -> None:
    if sum(len(data) for _, data in files) > _MOST_BYTES:
        raise UserError(f"the pictures have more than {_MOST_BYTES:,} bytes together; give fewer or smaller ones")


def read_series(files: Sequence[File]) -> list[File]:
    """The pictures by name, archives unpacked in memory."""
    series: list[File] = []
    for name, data in files:
        series += _unzip(name, data) if data[:4] == b"PK\x03\x04" else [(name, data)]
    _check_size(series)
    return sorted(series, key=lambda file: _natural_order(file[0]))


def _unzip(name: str, data: bytes) -> list[File]:
    """The pictures of a zip; names that lead out of it are refused."""
    files: list[File] = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in _picture_members(name, archive):
                with archive.open(member) as opened:
                    files.append((member.filename, opened.read(_MOST_BYTES + 1)))  # its header may lie about its size
                _check_size(files)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise UserError(f"{_quoted(name)} is a zip that cannot be read ({error})") from error
    return files


def _picture_members(name: str, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    members = [member for member in archive.infolist() if not member.is_dir()]
    for member in members:
        parts = re.split(r"[/\\]", member.filename)
        if ".." in parts or member.filename.startswith(("/", "\\")) or ":" in parts[0]:
            raise UserError(f"{_quoted(name)} holds {_quoted(member.filename)}, a name that leads out of the archive")
    wanted = [member for member in members if _is_picture_name(member.filename)]
    if not wanted:
        raise UserError(f"{_quoted(name)} holds no pictures; their names end in {', '.join(_ENDINGS)}")
    if len(wanted) > MOST_RETURNS + 1:
        raise UserError(
            f"{_quoted(name)} holds {len(wanted)} pictures; at most {MOST_RETURNS} returns are scored at once"
        )
    return wanted


def _is_picture_name(name: str) -> bool:
    last = re.split(r"[/\\]", name)[-1]
    return last.lower().endswith(_ENDINGS) and not last.startswith(".") and not name.startswith("__MACOSX")


def _natural_order(name: str) -> list[tuple[int, str]]:
    """A sort key by which round10 comes after round9.

    >>> sorted(["r10.png", "r9.png"], key=_natural_order)
    ['r9.png', 'r10.png']
    """
    return [(int(part), "") if part.isdecimal() else (-1, part.lower()) for part in re.split(r"(\d+)", name)]


def _quoted(name: str) -> str:
    return repr(name[-60:])
