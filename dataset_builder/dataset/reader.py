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

from .remote import Window, extent

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
        self.pictures = lru_cache(maxsize=4)(self._pictures)

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
        return pq.ParquetFile(Window(self.remote, path) if self.remote else path, metadata=self.footer(file))

    def read(self, file: str, group: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Some columns of one row group, from the Hub in one request."""
        names = list(columns) if columns is not None else None
        if not self.remote:
            with self.open(file) as opened:
                return opened.read_row_group(group, columns=names)
        with Window(self.remote, f"{self.folder}/{file}") as window:
            window.fetch(*extent(self.footer(file), group, names))
            opened = pq.ParquetFile(window, metadata=self.footer(file))
            return opened.read_row_group(group, columns=names, use_threads=False)

    def _footer(self, file: str) -> pq.FileMetaData:
        path = f"{self.folder}/{file}"
        if not self.remote:
            return pq.read_metadata(path)
        with Window(self.remote, path) as window:
            return pq.read_metadata(window)

    def groups(self, config: str) -> Iterator[tuple[str, int]]:
        """Every row group of a config, in the order of its rows."""
        for file in self.files(config):
            for group in range(self.footer(file).num_row_groups):
                yield file, group

    def plain(self, file: str) -> list[str]:
        """The columns that hold no pictures."""
        schema = self.footer(file).schema.to_arrow_schema()
        return [field.name for field in schema if not pa.types.is_struct(field.type)]

    def table(self, config: str, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows of a config without its pictures, or the columns named."""
        files = self.files(config)
        if not files:
            raise FileNotFoundError(f"{self.folder} has no config {config!r}: there is no data/{config}/**/*.parquet")
        tables = [self.read(file, group, columns or self.plain(file)) for file, group in self.groups(config)]
        if not tables:
            empty = self.footer(files[0]).schema.to_arrow_schema().empty_table()
            tables = [empty.select(list(columns or self.plain(files[0])))]
        return pa.concat_tables(tables, promote_options="default").replace_schema_metadata()

    def rows(self, config: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Rows with their pictures as {"bytes", "path"}, one row group in memory at a time."""
        for file, group in self.groups(config):
            yield from self.read(file, group, columns).to_pylist()

    def places(self, config: str = "steps") -> list[Place]:
        """Where each row of `table(config)` lies, in the same order."""
        return [
            Place(file, group, row)
            for file, group in self.groups(config)
            for row in range(self.footer(file).row_group(group).num_rows)
        ]

    def picture(self, place: Place, column: str = "image") -> bytes | None:
        """The bytes of one picture; the last few row groups are kept, since neighbours are usually next."""
        value = self.pictures(place.file, place.group, column)[place.row]
        return value.as_py() if value.is_valid else None

    def _pictures(self, file: str, group: int, column: str) -> pa.Array:
        pictures = self.read(file, group, [column]).column(0).combine_chunks()
        # The struct's own validity too: a missing picture is a null struct.
        return pc.struct_field(pictures, "bytes")
