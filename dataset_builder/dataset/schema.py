"""The schema and metadata of the files, and how they are written."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import manifest
from .columns import Column, Config, Row, Values
from .rows import configs, table_of

SPLIT = "test"
_ROW_GROUP = 8_000_000  # bytes of pictures; a larger picture has a row group of its own
_MOST_ROWS = 10_000  # in a row group
# As `datasets` writes files, so that the Hub can deduplicate two versions of one.
_CHUNKING = {"min_chunk_size": 262144, "max_chunk_size": 1048576, "norm_level": 0}
# Keys of a file's metadata. A file without digests is not read.
_MEANINGS = b"convergebench_columns"  # JSON: what each column means
_ROW = b"convergebench_row"  # what a row is
DIGESTS = b"convergebench_sha256"  # JSON: the digest of each column's values
REFERENCES = b"convergebench_references"  # JSON: the sha256 of each reference, row by row
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_ARROW = {
    "image": IMAGE,
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}


def arrow(columns: Iterable[Column]) -> pa.Schema:
    """What `datasets.Features.arrow_schema` gives, without importing datasets."""
    columns = list(columns)
    features = {
        column.name: {"_type": "Image"} if column.type == "image" else {"dtype": column.type, "_type": "Value"}
        for column in columns
    }
    fields = [(column.name, _ARROW[column.type]) for column in columns]
    return pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})


def config_of(footer: pq.FileMetaData, name: str) -> Config:
    """A file's own description of its rows and columns."""
    metadata = footer.metadata or {}
    meanings = json.loads(metadata.get(_MEANINGS, b"{}"))
    types = {type: name for name, type in _ARROW.items()}
    fields = footer.schema.to_arrow_schema()
    columns = [Column(field.name, types[field.type], meanings.get(field.name, "")) for field in fields]
    table = configs().get(name) or Config(name)
    return replace(table, row=metadata.get(_ROW, b"").decode(), columns=tuple(columns))


def values_digest(footer: pq.FileMetaData) -> str:
    """One digest of a table's columns, what they mean and all their values, as the file states them."""
    metadata, digest = footer.metadata or {}, hashlib.sha256()
    for field in footer.schema.to_arrow_schema():
        digest.update(f"{field.name} {field.type}\n".encode())
    for key in (DIGESTS, REFERENCES, _MEANINGS, _ROW):
        digest.update(metadata.get(key, b""))
    return digest.hexdigest()


def write(
    path: Path, config: Config, rows: Iterable[Row | Values], dataset: Path | None = None
) -> tuple[int, manifest.Entry]:
    """Write a whole table and list it in the manifest of `dataset`; return its number of rows and its entry.

    A picture is {"bytes", "path"} or None. One row group is in memory, however long the file becomes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        _write(part, config, rows)
        footer = pq.read_metadata(part)
        entry = {"sha256": hash_file(part), "values": values_digest(footer)}
        if dataset:
            manifest.expect(dataset, {path.relative_to(dataset).as_posix(): entry})
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return footer.num_rows, entry


def _write(path: Path, config: Config, rows: Iterable[Row | Values]) -> None:
    schema, digest, references = arrow(config.columns), TableDigest(), list[str | None]()
    digest.update(schema.empty_table())
    pictures = [column.name for column in config.columns if column.type == "image"]
    writer = _writer(path, schema, pictures)
    meanings = {column.name: column.meaning for column in config.columns if column.meaning}
    metadata = {_MEANINGS: json.dumps(meanings, ensure_ascii=False)} | ({_ROW: config.row} if config.row else {})
    writer.add_key_value_metadata({b"content_defined_chunking": json.dumps(_CHUNKING), **metadata})
    with writer:
        for group in _row_groups(rows, pictures):
            arrays = [pa.array([row[field.name] for row in group], field.type) for field in schema]
            batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
            digest.update(batch)
            writer.write_batch(batch)
            for picture in (row["reference"] for row in group if "reference" in pictures):
                references.append(picture and hashlib.sha256(picture["bytes"]).hexdigest())
        metadata = {DIGESTS: json.dumps(digest.hexdigests())}
        writer.add_key_value_metadata(
            metadata | ({REFERENCES: json.dumps(references)} if any(references) else {})
        )


def _writer(path: Path, schema: pa.Schema, pictures: Sequence[str]) -> pq.ParquetWriter:
    plain = [name for name in schema.names if name not in pictures]
    leaves = [f"{name}.{leaf}" for name in pictures for leaf in ("bytes", "path")]
    return pq.ParquetWriter(
        path,
        schema,
        compression={**dict.fromkeys(leaves, "none"), **dict.fromkeys(plain, "snappy")},
        use_dictionary=plain,
        column_encoding=dict.fromkeys(leaves, "PLAIN"),
        use_content_defined_chunking=_CHUNKING,
        write_page_index=True,
        write_page_checksum=not pictures,  # pictures have hashes
    )


def _row_groups(rows: Iterable[Row | Values], pictures: Sequence[str]) -> Iterator[list[Values]]:
    group: list[Values] = []
    filled = 0
    for row in rows:
        values = row.values if isinstance(row, Row) else row
        weight = sum(len(values[name]["bytes"]) for name in pictures if values[name])
        if group and (filled + weight > _ROW_GROUP or len(group) >= _MOST_ROWS):
            yield group
            group, filled = [], 0
        group.append(values)
        filled += weight
    if group:
        yield group


def hash_file(path: Path) -> str:
    """The file's sha256, cached in this process until the file changes."""
    status = path.stat()
    return _hash(path, (status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=65536)
def _hash(path: Path, stamp: tuple[int, int]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def extent(footer: pq.FileMetaData, group: int, columns: Sequence[str] | None) -> tuple[int, int]:
    """The first byte of some adjacent columns of a row group, and the byte after their end."""
    row_group = footer.row_group(group)
    starts, ends = [], []
    for number in range(row_group.num_columns):
        chunk = row_group.column(number)
        path = chunk.path_in_schema
        if columns is None or {path, path.split(".")[0]} & {*columns}:
            starts.append(min(chunk.dictionary_page_offset or chunk.data_page_offset, chunk.data_page_offset))
            ends.append(starts[-1] + chunk.total_compressed_size)
    return min(starts), max(ends)


def may_hold(footer: pq.FileMetaData, group: int, place: Values) -> bool:
    """Whether the bounds of a row group's columns allow a row with these values."""
    row_group = footer.row_group(group)
    for column in map(row_group.column, range(row_group.num_columns)):
        value, bounds = place.get(column.path_in_schema), column.statistics
        if value is not None and bounds and bounds.has_min_max and not bounds.min <= value <= bounds.max:
            return False
    return True


def refuse_large(footer: pq.FileMetaData) -> None:
    """Raise if a part has more rows than are written: millions of empty ones take few bytes, and much memory."""
    most = max((footer.row_group(group).num_rows for group in range(footer.num_row_groups)), default=0)
    if most > _MOST_ROWS:
        raise OSError(f"a part of it has {most:,} rows, and this benchmark writes at most {_MOST_ROWS:,}")


def refuse_nulls(file: str, part: pa.Table) -> None:
    """Raise if a column that every row must have has a row without a value."""
    table = configs().get(table_of(file))
    for column in table.columns if table else ():
        if column.required and column.name in part.column_names and part[column.name].null_count:
            raise OSError(f"its column {column.name!r} has a row without a value")


class TableDigest:
    """Digests of a table's columns without pictures; how the values are split into parts does not matter."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}  # hashes of which values are missing, of lengths and of values

    def update(self, part: pa.Table | pa.RecordBatch) -> None:
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
    if pa.types.is_dictionary(array.type):  # a few rows at a time: decoding repeats each word in full
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
