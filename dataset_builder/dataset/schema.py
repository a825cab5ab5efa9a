"""The format of the dataset's files: their schema, their metadata, and how they are written."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from . import manifest
from .columns import Column, Config, Row, Values
from .manifest import Entry, TableDigest
from .rows import configs

SPLIT = "test"
_ROW_GROUP = 8_000_000  # bytes of pictures; a larger picture has a row group of its own
ROWS = 10_000  # in a row group at most, if there are no pictures
SHARD = 500_000_000  # bytes of pictures in one file, unless one chain alone has more
# As `datasets` writes files, so that the Hub can deduplicate two versions of one.
_CHUNKING = {"min_chunk_size": 262144, "max_chunk_size": 1048576, "norm_level": 0}
# Keys of a file's metadata.
MEANINGS = b"convergebench_columns"  # JSON: what each column means
ROW = b"convergebench_row"  # what a row is
DIGESTS = b"convergebench_sha256"  # JSON: the digest of each column's values
UNEXPLAINED = "not explained in the file"
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
    """The same schema that `datasets.Features.arrow_schema` gives, made without importing datasets."""
    columns = list(columns)
    features = {
        column.name: {"_type": "Image"} if column.type == "image" else {"dtype": column.type, "_type": "Value"}
        for column in columns
    }
    fields = [(column.name, _ARROW[column.type]) for column in columns]
    return pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})


def config_of(footer: pq.FileMetaData, name: str) -> Config:
    """A file's own description of its rows and columns; if it has none, that of its config."""
    metadata = footer.metadata or {}
    declared = configs().get(name) or Config(name)
    meanings = {column.name: column.meaning for column in declared.columns}
    meanings |= json.loads(metadata.get(MEANINGS, b"{}"))
    types = {type: name for name, type in _ARROW.items()}
    fields = footer.schema.to_arrow_schema()
    columns = [Column(field.name, types[field.type], meanings.get(field.name) or UNEXPLAINED) for field in fields]
    row = metadata.get(ROW, b"").decode() or declared.row or UNEXPLAINED
    return replace(declared, row=row, columns=tuple(columns))


def own_digests(path: Path) -> dict[str, str]:
    """The column digests in a file's metadata; none if it has none or cannot be read."""
    try:
        digests = json.loads((pq.read_metadata(path).metadata or {}).get(DIGESTS, b"{}"))
    except (pa.ArrowException, OSError, ValueError):
        return {}
    return digests if isinstance(digests, dict) else {}


class Written(NamedTuple):
    """A file that was written."""

    path: Path
    rows: int
    bytes: int
    sha256: str
    columns: Mapping[str, str] = {}
    references: Sequence[str | None] = ()  # the sha256 of each reference, row by row

    @property
    def entry(self) -> Entry:
        """Its entry in the manifest."""
        entry = Entry(sha256=self.sha256, columns=dict(self.columns))
        if any(self.references):
            entry["pictures"] = {"reference": [*self.references]}
        return entry


class Shard:
    """One Parquet file being written; memory holds one row group, however long the file becomes.

    With `checks`, its pages have checksums and its metadata holds its columns' digests. Files of pictures need neither:
    the pictures' hashes and the manifest cover them.
    """

    def __init__(
        self,
        path: Path,
        columns: Iterable[Column],
        metadata: Mapping[bytes, str] | None = None,
        checks: bool = False,
    ):
        self.path, self.schema, self.checks, self.digest = path, arrow(columns), checks, TableDigest()
        self.pictures = [field.name for field in self.schema if field.type == IMAGE]
        plain = [field.name for field in self.schema if field.type != IMAGE]
        leaves = [f"{name}.{leaf}" for name in self.pictures for leaf in ("bytes", "path")]
        self.writer = pq.ParquetWriter(
            path,
            self.schema,
            compression={**dict.fromkeys(leaves, "none"), **dict.fromkeys(plain, "snappy")},
            use_dictionary=plain,
            column_encoding=dict.fromkeys(leaves, "PLAIN"),
            use_content_defined_chunking=_CHUNKING,
            write_page_index=True,
            write_page_checksum=checks,
        )
        self.writer.add_key_value_metadata({b"content_defined_chunking": json.dumps(_CHUNKING), **(metadata or {})})
        self.rows: list[Values] = []
        self.references: list[str | None] = []
        self.weight = self.count = 0

    def add(self, values: Row | Values) -> None:
        """Add a row; a picture is {"bytes", "path"} or None."""
        row = values.values if isinstance(values, Row) else values
        weight = sum(len(row[name]["bytes"]) for name in self.pictures if row[name])
        if self.rows and (self.weight + weight > _ROW_GROUP or len(self.rows) >= ROWS):
            self.flush()
        if "reference" in self.pictures:
            reference = row["reference"]
            self.references.append(hashlib.sha256(reference["bytes"]).hexdigest() if reference else None)
        self.rows.append(row)
        self.weight += weight

    def flush(self) -> None:
        """Write the buffered rows as one row group."""
        if not self.rows:
            return
        arrays = [pa.array([row[field.name] for row in self.rows], field.type) for field in self.schema]
        self.count += len(self.rows)
        self.rows, self.weight = [], 0
        batch = pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        self.digest.update(batch)
        self.writer.write_batch(batch)

    def close(self) -> Written:
        self.flush()
        columns = self.digest.hexdigests()
        if self.checks:
            self.writer.add_key_value_metadata({DIGESTS: json.dumps(columns)})
        self.writer.close()
        return Written(self.path, self.count, self.path.stat().st_size, hash_file(self.path), columns, self.references)


def write(path: Path, config: Config, rows: Iterable[Row | Values]) -> Written:
    """Write a whole table, complete or not at all, with the meanings of its columns and rows in its metadata."""
    meanings = {column.name: column.meaning for column in config.columns if column.meaning}
    metadata = {MEANINGS: json.dumps(meanings, ensure_ascii=False)} | ({ROW: config.row} if config.row else {})
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        shard = Shard(part, config.columns, metadata, checks=True)
        for row in rows:
            shard.add(row)
        written = shard.close()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return written._replace(path=path)


def write_listed(folder: Path, file: str, config: Config, rows: Iterable[Row | Values]) -> Written:
    """Write a table into a dataset, listed in its manifest first, so that a crash leaves no unlisted file."""
    manifest.expect(folder, {file: {}})
    return write(folder / file, config, rows)


def hash_file(path: Path) -> str:
    """The file's sha256, cached in this process until the file changes."""
    status = path.stat()
    return _hash(path, (status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=65536)
def _hash(path: Path, stamp: tuple[int, int]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def extent(footer: pq.FileMetaData, group: int, columns: Sequence[str] | None) -> tuple[int, int]:
    """The first and last byte of some adjacent columns of a row group."""
    row_group = footer.row_group(group)
    chunks = [row_group.column(number) for number in range(row_group.num_columns)]
    wanted = [
        chunk
        for chunk in chunks
        if columns is None or {chunk.path_in_schema, chunk.path_in_schema.split(".")[0]} & {*columns}
    ]
    starts = [min(chunk.dictionary_page_offset or chunk.data_page_offset, chunk.data_page_offset) for chunk in wanted]
    ends = [start + chunk.total_compressed_size for start, chunk in zip(starts, wanted, strict=True)]
    return min(starts), max(ends)
