"""Rows of tables, read on every pass with one row group in memory.

As dictionaries, 400,000 rows of scores take two gigabytes;
what is computed from them takes a twentieth of that.
"""

import functools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from convergebench.dataset_builder.dataset.columns import ChainPlace
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.metric_modules.scores import ScoreRow, score_column_names

R = TypeVar("R", bound=ChainPlace)
_ROWS_AT_ONCE = 20_000  # of a table in memory: as objects they take a hundred times as much


class StoredRows(Generic[R]):
    """The rows of a table; reading a column that was not chosen is an error."""

    def __init__(self, reader: Reader, kind: type[R], columns: Collection[str] | None = None):
        self.reader, self.kind, self.columns = reader, kind, columns

    def __iter__(self) -> Iterator[R]:
        yield from self._typed(self._values())

    def _values(self) -> Iterator[Mapping[str, Any]]:
        return self.reader.rows(self.kind.TABLE, self._stored())

    def select(self, columns: Collection[str]) -> "StoredRows[R]":
        return StoredRows(self.reader, self.kind, columns)

    def of_chains(self, chains: Collection[str]) -> dict[str, list[R]]:
        """By chain; no other row becomes an object."""
        by_chain: dict[str, list[R]] = defaultdict(list)
        for part in self._parts() if chains else ():
            start = 0
            # Not with pyarrow's `is_in`: an array of the chains would import pandas, which takes 0.2 s.
            for is_wanted, names in groupby(part["chain"].to_pylist(), chains.__contains__):
                count = len(list(names))
                for row in self._typed(part.slice(start, count).to_pylist()) if is_wanted else ():
                    by_chain[row.chain].append(row)
                start += count
        return by_chain

    def with_any(self, columns: Collection[str]) -> Iterator[R]:
        """The rows that have a value in any of these columns."""
        for part in self._parts():
            if valid := [pc.is_valid(part[column]) for column in columns if column in part.column_names]:
                yield from self._typed(part.filter(functools.reduce(pc.or_, valid)).to_pylist())

    def distinct(self, column: str) -> Counter[Any]:
        """The values of a column, with how many rows have each."""
        counts = Counter[Any]()
        for table in self._tables_of(column):
            for value in table[column].value_counts().to_pylist() if column in table.column_names else ():
                counts[value["values"]] += value["counts"]
        return counts

    def _tables_of(self, column: str) -> Iterable[pa.Table]:
        return (self.reader.file_table(file, [column], [column]) for file in self.reader.files(self.kind.TABLE))

    @functools.cached_property
    def counts(self) -> Counter[str]:
        """How many rows each chain has."""
        return self.distinct("chain")

    def by_chain(self, columns: Collection[str]) -> Iterator[tuple[str, list[R]]]:
        """Each chain with its rows, as soon as all of them are read."""
        unfinished = defaultdict[str, list[R]](list)
        for row in self.select(columns):
            unfinished[row.chain].append(row)
            if len(unfinished[row.chain]) == self.counts[row.chain]:
                yield row.chain, unfinished.pop(row.chain)

    def _parts(self) -> Iterator[pa.Table]:
        for file, group in self.reader.groups(self.kind.TABLE):
            yield self.reader.read(file, group, self._stored())

    def _stored(self) -> list[str] | None:
        if self.columns is None:
            return None
        files = self.reader.files(self.kind.TABLE)
        stored = {name for file in files for name in self.reader.plain_columns(file)}
        return [name for name in self.columns if name in stored]

    def _typed(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[R]:
        all_names = score_column_names() if self.kind is ScoreRow else ()
        absent: dict[str, None] = dict.fromkeys(all_names if self.columns is None else self.columns)
        for row in rows:
            yield self.kind.from_values(absent | row)  # type: ignore[operator]  # a row is a dictionary


class TableRows(StoredRows[R]):
    """The rows of a table in memory."""

    def __init__(self, table: pa.Table, kind: type[R], columns: Collection[str] | None = None):
        self.table, self.kind, self.columns = table, kind, columns

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], kind: type[R]) -> "TableRows[R]":
        rows = list(rows)
        names = dict.fromkeys(name for row in rows for name in row)
        return cls(pa.table({name: [row.get(name) for row in rows] for name in names}), kind)

    def _values(self) -> Iterator[Mapping[str, Any]]:
        for part in self._parts():
            yield from part.to_pylist()

    def _tables_of(self, column: str) -> Iterable[pa.Table]:
        return [self.table]

    def select(self, columns: Collection[str]) -> "TableRows[R]":
        # A column without values takes time to read and adds nothing.
        names = [name for name in columns if name in self.table.column_names]
        filled = [name for name in names if self.table[name].null_count < self.table.num_rows]
        return TableRows(self.table.select(filled), self.kind, columns)

    def _parts(self) -> Iterator[pa.Table]:
        for start in range(0, self.table.num_rows, _ROWS_AT_ONCE):
            yield self.table.slice(start, _ROWS_AT_ONCE)
