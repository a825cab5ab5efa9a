"""Digests of a table's columns, which each Parquet file carries in its own metadata."""

import hashlib

import numpy as np
import pyarrow as pa


class TableDigest:
    """Digests of the columns of a table that arrives part by part, without its pictures.

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
        parts = {name: (column.missing, column.lengths, column.values) for name, column in self._columns.items()}
        return {
            name: hashlib.sha256(b"".join(part.digest() for part in hashes)).hexdigest()
            for name, hashes in parts.items()
        }


class _ColumnDigest:
    """Made from pyarrow's buffers: importing pyarrow.compute would take 9 MB."""

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
            sizes = np.where(valid, np.diff(ends), 0).astype("<i8")
            self.lengths.update(sizes.data)
            if sizes.sum() == ends[-1] - ends[0]:
                self.values.update(memoryview(buffers[1])[ends[0] : ends[-1]] if buffers[1] is not None else b"")
            else:
                self.values.update("".join(value or "" for value in array.to_pylist()).encode())
        elif pa.types.is_boolean(array.type):
            self.values.update((_bits(buffers[0], array.offset, size) * valid).data)
        elif not pa.types.is_null(array.type):
            if not pa.types.is_integer(array.type) and not pa.types.is_floating(array.type):
                raise ValueError(f"values of type {array.type}, which no table has")
            numbers = np.frombuffer(buffers[0], array.type.to_pandas_dtype())[array.offset : array.offset + size]
            self.values.update(np.where(valid, numbers, 0).astype(numbers.dtype).data)


def _bits(buffer: pa.Buffer, offset: int, size: int) -> np.ndarray:
    return np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")[offset : offset + size]
