"""Reads the dataset's Parquet directly, row group by row group, from a folder here or on the Hub.

`load_dataset` copies every picture into its cache first; scores need none of them and one picture needs one row group.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from huggingface_hub import HfApi


class Place(NamedTuple):
    """Where a row lies, so that its picture can be had without the others."""

    file: str
    group: int
    row: int


class Reader:
    """A dataset folder, or a Hub dataset as `hf://datasets/NAMESPACE/NAME@REVISION`."""

    def __init__(self, folder: str | Path, api: "HfApi | None" = None):
        self.folder = str(folder)
        self.remote = None
        if self.folder.startswith("hf://"):
            from huggingface_hub import HfFileSystem

            self.remote = HfFileSystem(endpoint=api.endpoint, token=api.token) if api else HfFileSystem()
            self.folder = self.folder.removeprefix("hf://")
        self.footer = lru_cache(maxsize=4096)(self._footer)
        self.group = lru_cache(maxsize=4)(self._group)

    def files(self, config: str) -> list[str]:
        """The config's files, in the order of its rows; none where the config does not exist."""
        if self.remote:
            found = self.remote.glob(f"{self.folder}/data/{config}/**/*.parquet")
            return sorted(str(path).removeprefix(self.folder + "/") for path in found)
        root = Path(self.folder)
        return sorted(path.relative_to(root).as_posix() for path in (root / "data" / config).rglob("*.parquet"))

    def open(self, file: str) -> pq.ParquetFile:
        """A new handle: pyarrow's are not for use by two threads at once."""
        path = f"{self.folder}/{file}"
        # Neighbouring columns are fetched in one request, and nothing is read ahead of what was asked for.
        source = self.remote.open(path, "rb", cache_type="none") if self.remote else path
        return pq.ParquetFile(source, metadata=self.footer(file), pre_buffer=True)

    def _footer(self, file: str) -> pq.FileMetaData:
        path = f"{self.folder}/{file}"
        if not self.remote:
            return pq.read_metadata(path)
        with self.remote.open(path, "rb", cache_type="none") as source:
            return pq.read_metadata(source)

    def plain(self, file: str) -> list[str]:
        """The columns that hold no pictures."""
        return [
            field.name for field in self.footer(file).schema.to_arrow_schema() if not pa.types.is_struct(field.type)
        ]

    def table(self, config: str, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows of a config without its pictures, or the columns named."""
        tables = []
        for file in self.files(config):
            with self.open(file) as opened:
                tables.append(opened.read(columns=list(columns) if columns else self.plain(file)))
        if not tables:
            raise FileNotFoundError(f"{self.folder} has no config {config!r}: there is no data/{config}/**/*.parquet")
        return pa.concat_tables(tables, promote_options="default").replace_schema_metadata()

    def rows(self, config: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Rows with their pictures as {"bytes", "path"}, one row group in memory at a time."""
        for file in self.files(config):
            with self.open(file) as opened:
                for group in range(opened.num_row_groups):
                    yield from opened.read_row_group(group, columns=list(columns) if columns else None).to_pylist()

    def places(self, config: str = "steps") -> list[Place]:
        """Where each row of `table(config)` lies, in the same order."""
        found = []
        for file in self.files(config):
            footer = self.footer(file)
            for group in range(footer.num_row_groups):
                found += [Place(file, group, row) for row in range(footer.row_group(group).num_rows)]
        return found

    def picture(self, place: Place, column: str = "image") -> bytes | None:
        """The bytes of one picture; the last few row groups are kept, since neighbours are usually next."""
        value = self.group(place.file, place.group, column)[place.row]
        return value.as_py() if value.is_valid else None

    def _group(self, file: str, group: int, column: str) -> pa.Array:
        with self.open(file) as opened:
            pictures = opened.read_row_group(group, columns=[column]).column(0).combine_chunks()
        # The struct's own validity too: a missing picture is a null struct.
        return pictures.field("bytes") if not pictures.null_count else pc.struct_field(pictures, "bytes")
