"""Finds a chain's rows by Parquet's own index: footers tell which row groups can hold it, and only those are read."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

KEYS = ("chain", "editor", "source", "program")
Row = Mapping[str, Any]


class Place(NamedTuple):
    """Where a row lies, so that its picture can be had without the others."""

    file: str
    group: int
    row: int


class Folder(Protocol):
    """A dataset's files, here or on the Hub."""

    def files(self, config: str) -> list[str]: ...
    def open(self, file: str) -> Any: ...


class Steps:
    """The rows of the config `steps`, chain by chain, without ever reading a whole file."""

    def __init__(self, folder: Folder):
        self.folder = folder
        self.files: list[str] | None = None
        self.footer = lru_cache(maxsize=256)(self._footer)
        self.limits = lru_cache(maxsize=4096)(self._limits)
        self.rows = lru_cache(maxsize=256)(self._rows)
        self.pictures = lru_cache(maxsize=4)(self._pictures)

    def find(self, chain: Row) -> dict[int, tuple[Place, dict[str, Any]]]:
        """Every step of a chain with its place and all of its fields but the picture."""
        return self.rows(*(chain[key] for key in KEYS))

    def picture(self, place: Place) -> bytes | None:
        """The bytes as received; None where there is no picture."""
        value = self.pictures(place.file, place.group)[place.row]
        return value["bytes"].as_py() if value.is_valid else None

    def opened(self, file: str) -> pq.ParquetFile:
        """A new handle, for the thread that asks: neither Hub files nor handles are for several at once."""
        return pq.ParquetFile(self.folder.open(file), metadata=self.footer(file), pre_buffer=False)

    def _footer(self, file: str) -> pq.FileMetaData:
        return pq.read_metadata(self.folder.open(file))

    def _limits(self, file: str) -> list[dict[str, tuple[str, str] | None]]:
        """For each row group the first and last value of every key; None where the file does not say."""
        footer = self.footer(file)
        columns = {footer.schema.column(number).path: number for number in range(footer.num_columns)}
        found = []
        for group in range(footer.num_row_groups):
            about = footer.row_group(group)
            limits: dict[str, tuple[str, str] | None] = {}
            for key in KEYS:
                known = about.column(columns[key]).statistics
                limits[key] = (known.min, known.max) if known is not None and known.has_min_max else None
            found.append(limits)
        return found

    def _rows(self, *values: str) -> dict[int, tuple[Place, dict[str, Any]]]:
        wanted = dict(zip(KEYS, values, strict=True))
        if self.files is None:
            self.files = self.folder.files("steps")
        found: dict[int, tuple[Place, dict[str, Any]]] = {}
        for file in sorted(self.files, key=lambda file: likeness(file, wanted["editor"])):
            for group, limits in enumerate(self.limits(file)):
                if all(within(wanted[key], limits[key]) for key in KEYS):
                    found |= self.of_group(file, group, wanted["chain"])
            if found:
                break  # a chain's steps lie in one file
        return found

    def of_group(self, file: str, group: int, chain: str) -> dict[int, tuple[Place, dict[str, Any]]]:
        with self.opened(file) as opened:
            names = [field.name for field in opened.schema_arrow if not pa.types.is_struct(field.type)]
            rows = opened.read_row_group(group, columns=names, use_threads=False).to_pylist()
        return {
            row["step"]: (Place(file, group, number), row) for number, row in enumerate(rows) if row["chain"] == chain
        }

    def _pictures(self, file: str, group: int) -> pa.ChunkedArray:
        with self.opened(file) as opened:
            return opened.read_row_group(group, columns=["image"], use_threads=False)["image"]


def within(value: str, limits: tuple[str, str] | None) -> bool:
    return limits is None or limits[0] <= value <= limits[1]


def likeness(file: str, editor: str) -> bool:
    """False, and so first, for files whose folder is named after the editor."""
    return not editor.startswith(file.split("/")[-2].split("_")[0].split("-")[0])
