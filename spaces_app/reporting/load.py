"""Reads a dataset folder's Parquet directly: small tables whole, pictures one row group at a time."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

CALLS = ("chain", "step", "round", "position", "status", "latency", "cost")


def files(folder: Path, config: str) -> list[Path]:
    """The config's files in the order of its rows; none where there is no such config."""
    return sorted((folder / "data" / config).rglob("*.parquet"))


def rows(folder: Path, config: str, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """All rows of a config without its pictures, or those of the columns named that are there."""
    found: list[dict[str, Any]] = []
    for path in files(folder, config):
        try:
            opened = pq.ParquetFile(path)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
        with opened:
            plain = [field.name for field in opened.schema_arrow if not pa.types.is_struct(field.type)]
            wanted = plain if columns is None else [name for name in columns if name in plain]
            found += opened.read(columns=wanted).to_pylist()
    return found


class Pictures:
    """The pictures of the config `steps`, found by chain and step; nothing is decoded here."""

    def __init__(self, folder: Path):
        self.places: dict[tuple[str, int], tuple[Path, int, int]] = {}
        for path in files(folder, "steps"):
            with pq.ParquetFile(path) as opened:
                for group, names in enumerate(self.groups(opened)):
                    self.places |= {name: (path, group, row) for row, name in enumerate(names)}
        self.group = lru_cache(maxsize=4)(self._group)

    def groups(self, opened: pq.ParquetFile) -> Iterator[list[tuple[str, int]]]:
        keys = opened.read(columns=["chain", "step"])
        names = list(zip(keys["chain"].to_pylist(), keys["step"].to_pylist(), strict=True))
        start = 0
        for group in range(opened.num_row_groups):
            size = opened.metadata.row_group(group).num_rows
            yield names[start : start + size]
            start += size

    def read(self, chain: str, step: int) -> bytes | None:
        """The bytes as received; None where there is no picture."""
        if (chain, step) not in self.places:
            return None
        path, group, row = self.places[chain, step]
        value = self.group(path, group)[row]
        return value["bytes"].as_py() if value.is_valid else None

    def _group(self, path: Path, group: int) -> pa.ChunkedArray:
        with pq.ParquetFile(path) as opened:
            return opened.read_row_group(group, columns=["image"])["image"]
