"""Digests of a table's columns: equal for equal values, however they are split into row groups, files and reads."""

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


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
        self.missing.update(np.asarray(array.is_null()).astype(np.uint8))
        if pa.types.is_string(array.type):
            filled = pc.fill_null(array, "") if array.null_count else array
            _, offsets, values = filled.buffers()
            if len(filled) and offsets is not None:
                ends = np.frombuffer(offsets, np.int32)[filled.offset : filled.offset + len(filled) + 1]
                self.lengths.update(np.diff(ends).astype("<i8"))
                self.values.update(memoryview(values)[ends[0] : ends[-1]] if values is not None else b"")
        elif not pa.types.is_null(array.type):
            filled = pc.fill_null(array, pa.scalar(0).cast(array.type)) if array.null_count else array
            self.values.update(np.ascontiguousarray(filled.to_numpy(zero_copy_only=False)))

    def hexdigest(self) -> str:
        parts = self.missing.digest() + self.lengths.digest() + self.values.digest()
        return hashlib.sha256(parts).hexdigest()


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
