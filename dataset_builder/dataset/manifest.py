"""The manifest, which lists the files that this benchmark wrote into a folder or repository, with their digests.

Only listed files are ever replaced or removed. A file is listed before it is written, so that even a crash leaves no
unlisted file behind.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TypedDict, cast

import numpy as np
import pyarrow as pa
from convergebench.generation.files import write_whole
from convergebench.generation.records import UserError, is_encodable

MANIFEST = ".manifest.json"


class Entry(TypedDict, total=False):
    """What is known of a file; empty if it is about to be written, or if the manifest's entry is not valid."""

    sha256: str
    columns: Mapping[str, str]  # the digest of each column's values
    pictures: Mapping[str, list[str | None]]  # the sha256 of pictures whose hash is in no column, row by row


Entries = dict[str, Entry]


def parse(data: bytes) -> tuple[Entries, Entries]:
    """The files as they are, and those about to replace some of them; empty if the data are not a manifest."""
    try:
        parts = json.loads(data)
    except (ValueError, RecursionError):
        return {}, {}
    files, replacing = (parts.get(name) if isinstance(parts, dict) else None for name in ("files", "replacing"))
    return _entries(files), _entries(replacing)


def _entries(part: object) -> Entries:
    """The files of one part of a manifest, without paths that leave the folder or that no file can have."""
    entries: Entries = {}
    for path, entry in part.items() if isinstance(part, dict) else ():
        leaves = PurePosixPath(path).is_absolute() or ".." in path.split("/") or "\\" in path
        if isinstance(entry, dict) and not leaves and is_encodable(path):
            entries[path] = cast(Entry, entry) if _is_valid(entry) else {}
    return entries


def _is_valid(entry: dict[str, object]) -> bool:
    """Whether an entry has the form that this module writes."""
    columns, pictures = entry.get("columns", {}), entry.get("pictures", {})
    return (
        isinstance(entry.get("sha256", ""), str)
        and isinstance(columns, dict)
        and all(isinstance(digest, str) for digest in columns.values())
        and isinstance(pictures, dict)
        and all(isinstance(digests, list) for digests in pictures.values())
        and is_encodable(json.dumps(entry, ensure_ascii=False))
    )


def read(folder: Path, name: str = MANIFEST) -> tuple[Entries, Entries]:
    """The two parts of a folder's manifest, see `parse`; callers share them and must not change them."""
    try:
        status = (folder / name).stat()
    except (FileNotFoundError, NotADirectoryError):
        return {}, {}
    return _parsed(folder / name, (status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=8)
def _parsed(path: Path, stamp: tuple[int, ...]) -> tuple[Entries, Entries]:
    return parse(path.read_bytes())


def listed(folder: Path, name: str = MANIFEST) -> set[str]:
    """The paths of the listed files, written or about to be."""
    files, replacing = read(folder, name)
    return {*files, *replacing}


def entries_of(folder: Path, file: str) -> list[Entry]:
    """The entries that a file may match: while it is being replaced, its old one and its new one."""
    return [part[file] for part in read(folder) if file in part]


def is_as_written(folder: Path, file: str) -> bool:
    """Whether a listed file still has the content that was written."""
    digest = hashlib.sha256((folder / file).read_bytes()).hexdigest()
    return any(entry.get("sha256", digest) == digest for entry in entries_of(folder, file))


def expect(folder: Path, entries: Mapping[str, Entry], name: str = MANIFEST) -> None:
    """List files before they are written or replaced."""
    files, replacing = read(folder, name)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, text(files, {**replacing, **entries}))


def record(folder: Path, entries: Mapping[str, Entry], name: str = MANIFEST) -> None:
    """List exactly these files, once all are written."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, text(entries))


def text(files: Mapping[str, Entry], replacing: Mapping[str, Entry] | None = None) -> bytes:
    """The bytes of a manifest."""
    parts = {"files": files} | ({"replacing": replacing} if replacing else {})
    return (json.dumps(parts, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()


def refuse(where: object, strangers: Collection[str], what: str, advice: str) -> None:
    """Raise if there are strangers: foreign files that would be replaced or mixed with ours."""
    if strangers:
        files = sorted(strangers)
        others = f" and {len(files) - 3} more" if len(files) > 3 else ""
        raise UserError(f"{where} holds {', '.join(files[:3])}{others}, which {what}; nothing was changed: {advice}")


class TableDigest:
    """Digests of the columns of a table that arrives part by part; pictures have hashes of their own.

    Equal values have equal digests, however they are split into row groups, files and reads.
    """

    def __init__(self) -> None:
        self._columns: dict[str, _ColumnDigest] = {}

    def update(self, part: pa.Table | pa.RecordBatch) -> None:
        """Add the next rows."""
        for field in part.schema:
            if not pa.types.is_struct(field.type):
                digest = self._columns.setdefault(field.name, _ColumnDigest())
                column = part.column(field.name)
                for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                    digest.update(chunk)

    def hexdigests(self) -> dict[str, str]:
        """The digest of each column."""
        return {name: digest.hexdigest() for name, digest in self._columns.items()}


class _ColumnDigest:
    """The sha256 of a column's values. Made from pyarrow's buffers: importing pyarrow.compute would take 9 MB."""

    def __init__(self) -> None:
        self.missing, self.lengths, self.values = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()

    def update(self, array: pa.Array) -> None:
        if pa.types.is_dictionary(array.type):  # a few rows at a time: decoded, each word is as long as in the file
            for start in range(0, len(array), 10_000):
                self.update(array.slice(start, 10_000).dictionary_decode())
            return
        size, (validity, *buffers) = len(array), array.buffers()
        if not size:
            return
        valid = _bits(validity, array.offset, size) if validity is not None else np.ones(size, np.uint8)
        self.missing.update((1 - valid).data)
        if pa.types.is_string(array.type):
            ends = np.frombuffer(buffers[0], np.int32)[array.offset : array.offset + size + 1]
            lengths = np.where(valid, np.diff(ends), 0).astype("<i8")
            self.lengths.update(lengths.data)
            if lengths.sum() == ends[-1] - ends[0]:
                self.values.update(memoryview(buffers[1])[ends[0] : ends[-1]] if buffers[1] is not None else b"")
            else:
                self.values.update("".join(value or "" for value in array.to_pylist()).encode())
        elif pa.types.is_boolean(array.type):
            self.values.update((_bits(buffers[0], array.offset, size) * valid).data)
        elif not pa.types.is_null(array.type):
            if not pa.types.is_integer(array.type) and not pa.types.is_floating(array.type):
                raise ValueError(f"values of type {array.type}, which no table has")
            values = np.frombuffer(buffers[0], array.type.to_pandas_dtype())[array.offset : array.offset + size]
            self.values.update(np.where(valid, values, 0).astype(values.dtype).data)

    def hexdigest(self) -> str:
        parts = self.missing.digest() + self.lengths.digest() + self.values.digest()
        return hashlib.sha256(parts).hexdigest()


def _bits(buffer: pa.Buffer, offset: int, size: int) -> np.ndarray:
    return np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")[offset : offset + size]


def possible_digests(
    stated: bytes | None, listed: list[Mapping[str, str]], columns: Iterable[str]
) -> list[Mapping[str, str]]:
    """The digests that a file with these columns may have: its own, or those that the manifest lists.

    Raises OSError if it cannot be the file that was written. A table without rows has none.
    """
    digests = [json.loads(stated)] if stated else []
    listed = listed if all(listed) else []  # in the middle of being replaced by something unknown
    if digests and listed and digests[0] not in listed:
        raise OSError("it is another file than the one that was written in its place")
    digests = [entry for entry in digests or listed if entry]
    if digests and not any(isinstance(entry, dict) and entry.keys() == {*columns} for entry in digests):
        raise OSError("its columns are not those that were written")
    return digests
