"""Digests of a table's columns: equal for equal values, however they are split into row groups, files and reads.

Made of pyarrow's buffers: importing pyarrow.compute would take 9 MB.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa


class ColumnDigest:
    """The sha256 of one column's values as they arrive, part by part; pictures have their own hashes."""

    def __init__(self) -> None:
        self.missing, self.lengths, self.values = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()

    def update(self, array: pa.Array) -> None:
        """Take in the next values."""
        if pa.types.is_dictionary(array.type):  # a few rows at a time: each word is as long as in the file
            for start in range(0, len(array), 10_000):
                self.update(array.slice(start, 10_000).dictionary_decode())
            return
        size, (validity, *buffers) = len(array), array.buffers()
        if not size:
            return
        valid = bits(validity, array.offset, size) if validity is not None else np.ones(size, np.uint8)
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
            self.values.update((bits(buffers[0], array.offset, size) * valid).data)
        elif not pa.types.is_null(array.type):
            if not pa.types.is_integer(array.type) and not pa.types.is_floating(array.type):
                raise ValueError(f"values of type {array.type}, which no table of ours has")
            values = np.frombuffer(buffers[0], array.type.to_pandas_dtype())[array.offset : array.offset + size]
            self.values.update(np.where(valid, values, 0).astype(values.dtype).data)

    def hexdigest(self) -> str:
        parts = self.missing.digest() + self.lengths.digest() + self.values.digest()
        return hashlib.sha256(parts).hexdigest()


def bits(buffer: pa.Buffer, offset: int, size: int) -> np.ndarray:
    """Some bits of a buffer as numbers, 0 or 1."""
    return np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")[offset : offset + size]


class TableDigest:
    """The digests of some columns of a table that arrives part by part."""

    def __init__(self, columns: Iterable[str] = ()) -> None:
        self.columns = {name: ColumnDigest() for name in columns}

    def update(self, part: pa.Table | pa.RecordBatch) -> None:
        """Take in the next rows; columns that hold pictures are left out."""
        for field in part.schema:
            if not pa.types.is_struct(field.type):
                digest = self.columns.setdefault(field.name, ColumnDigest())
                column = part.column(field.name)
                for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                    digest.update(chunk)

    def hexdigests(self) -> dict[str, str]:
        return {name: digest.hexdigest() for name, digest in self.columns.items()}

    def differing(self, expected: Iterable[Mapping[str, str]]) -> list[str]:
        """The columns whose values are none of those expected; where nothing is known, none are."""
        known = [each for each in expected if each]
        found = self.hexdigests()
        return [name for name in found if known and all(each.get(name) != found[name] for each in known)]


def known_digests(
    own: bytes | None, listed: list[Mapping[str, str]], columns: Iterable[str]
) -> list[Mapping[str, str]]:
    """The digests that a file with these columns may have: those it says itself, or those of the list of our files.

    Raises OSError where it cannot be the file that was written. Of a table without rows nothing is known.
    """
    known = [json.loads(own)] if own else []
    listed = listed if all(listed) else []  # in the middle of being replaced by something unknown
    if known and listed and known[0] not in listed:
        raise OSError("it is another file than the one that was written in its place")
    known = [each for each in known or listed if each]
    if known and not any(isinstance(each, dict) and each.keys() == {*columns} for each in known):
        raise OSError("its columns are not those that were written")
    return known
