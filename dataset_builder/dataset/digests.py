"""Digests of a table's columns, which each Parquet file carries in its own metadata."""

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa


class TableDigest:
    """Digests of the columns of a table that arrives part by part, without its pictures.

    Equal values have equal digests, however they are split into row groups, files and reads.
    """

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}  # hashes of which values are missing, of lengths and of values

    def update(self, part: pa.Table | pa.RecordBatch) -> None:
        """Add the next rows."""
        for field in part.schema:
            if not pa.types.is_struct(field.type):
                hashes = self._columns.setdefault(field.name, [hashlib.sha256() for _ in range(3)])
                column = part.column(field.name)
                for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                    _add(chunk, *hashes)

    def hexdigests(self) -> dict[str, str]:
        digests = {name: b"".join(part.digest() for part in hashes) for name, hashes in self._columns.items()}
        return {name: hashlib.sha256(digest).hexdigest() for name, digest in digests.items()}


def _add(array: pa.Array, missing: Any, lengths: Any, values: Any) -> None:
    if pa.types.is_dictionary(array.type):  # a few rows at a time: decoded, each word is as long as in the file
        for start in range(0, len(array), 10_000):
            _add(array.slice(start, 10_000).dictionary_decode(), missing, lengths, values)
        return
    size, (validity, *buffers) = len(array), array.buffers()
    if not size:
        return
    valid = _bits(validity, array.offset, size) if validity is not None else np.ones(size, np.uint8)
    missing.update((1 - valid).data)
    if pa.types.is_string(array.type):
        ends = np.frombuffer(buffers[0], np.int32)[array.offset : array.offset + size + 1]
        sizes = np.where(valid, np.diff(ends), 0).astype("<i8")
        lengths.update(sizes.data)
        if sizes.sum() == ends[-1] - ends[0]:
            values.update(memoryview(buffers[1])[ends[0] : ends[-1]] if buffers[1] is not None else b"")
        else:
            values.update("".join(value or "" for value in array.to_pylist()).encode())
    elif pa.types.is_boolean(array.type):
        values.update((_bits(buffers[0], array.offset, size) * valid).data)
    elif not pa.types.is_null(array.type):
        if not pa.types.is_integer(array.type) and not pa.types.is_floating(array.type):
            raise ValueError(f"values of type {array.type}, which no table has")
        numbers = np.frombuffer(buffers[0], array.type.to_pandas_dtype())[array.offset : array.offset + size]
        values.update(np.where(valid, numbers, 0).astype(numbers.dtype).data)


def _bits(buffer: pa.Buffer, offset: int, size: int) -> np.ndarray:
    return np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")[offset : offset + size]
