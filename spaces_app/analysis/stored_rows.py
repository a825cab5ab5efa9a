"""Rows of a dataset's table as the statistics read them: from its files again and again, one row group in memory.

Four hundred thousand rows of scores as dictionaries are two gigabytes; what is computed of them is a twentieth of that.
"""

import functools
import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from convergebench.dataset_builder.dataset.reader import Reader

Row = Mapping[str, Any]


class StoredRows:
    """The rows of one config, or some of their columns."""

    def __init__(self, reader: Reader, config: str, columns: Sequence[str] | None = None):
        self.reader, self.config, self.columns = reader, config, columns

    def __len__(self) -> int:
        return sum(self.reader.footer(file).num_rows for file in self.reader.files(self.config))

    def __iter__(self) -> Iterator[Row]:
        return self.reader.rows(self.config, self.columns)

    def select(self, columns: Collection[str]) -> "StoredRows":
        """The same rows with those of these columns that there are."""
        there = {name for file in self.reader.files(self.config) for name in self.reader.plain_columns(file)}
        return StoredRows(self.reader, self.config, [name for name in columns if name in there])

    def of_chains(self, chains: Collection[str]) -> Iterator[Row]:
        """The rows of some chains, made only for these."""
        wanted = pa.array(sorted(chains))
        for file, group in self.reader.groups(self.config) if chains else ():
            part = self.reader.read(file, group, self.columns)
            yield from part.filter(pc.is_in(part["chain"], wanted)).to_pylist()

    def with_any(self, columns: Collection[str]) -> Iterator[Row]:
        """The rows that have a value in any of these columns, made only for these."""
        for file, group in self.reader.groups(self.config):
            yield from any_value(self.reader.read(file, group, self.columns), columns).to_pylist()


def any_value(table: pa.Table, columns: Collection[str]) -> pa.Table:
    """The rows of a table that have a value in any of these columns."""
    valid = [pc.is_valid(table[column]) for column in columns if column in table.column_names]
    return table.filter(functools.reduce(pc.or_, valid)) if valid else table.slice(0, 0)


class SlicedRows(StoredRows):
    """Some slices of a table in memory, each with the rows of one chain."""

    def __init__(self, table: pa.Table, slices: Sequence[tuple[int, int]]):
        self.table, self.slices = table, slices

    def __len__(self) -> int:
        return sum(end - start for start, end in self.slices)

    def __iter__(self) -> Iterator[Row]:
        parts = [self.table.slice(start, end - start) for start, end in self.slices if start < end]
        if not parts:
            return
        columns = [plain_values(column) for column in pa.concat_tables(parts).itercolumns()]
        names = self.table.column_names
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))

    def by_chain(self) -> Iterator[tuple[str, list[Row]]]:
        """Each chain with its rows."""
        rows = iter(self)
        for start, end in self.slices:
            if own := list(itertools.islice(rows, end - start)):
                yield own[0]["chain"], own

    def select(self, columns: Collection[str]) -> "SlicedRows":
        there = [name for name in columns if name in self.table.column_names]
        return SlicedRows(self.table.select(there), self.slices)

    def of_chains(self, chains: Collection[str]) -> Iterator[Row]:
        return (row for row in self if row["chain"] in chains)

    def with_any(self, columns: Collection[str]) -> Iterator[Row]:
        for start, end in self.slices:
            yield from any_value(self.table.slice(start, end - start), columns).to_pylist()


def plain_values(column: pa.ChunkedArray) -> list[Any]:
    """What `to_pylist` gives, much faster for numbers and repeated words."""
    array = column.combine_chunks()
    if array.null_count == len(array):
        return [None] * len(array)
    if pa.types.is_dictionary(array.type):
        words = array.dictionary.to_pylist()
        return [None if code is None else words[code] for code in plain_values(pa.chunked_array([array.indices]))]
    is_number = pa.types.is_floating(array.type) or pa.types.is_integer(array.type)
    if not pa.types.is_boolean(array.type) and not (is_number and not array.null_count):
        return array.to_pylist()
    return array.to_numpy(zero_copy_only=False).tolist()


def narrow(rows: Iterable[Row], columns: Collection[str]) -> Iterable[Row]:
    """Rows with no more than these columns where that saves memory."""
    return rows.select(columns) if isinstance(rows, StoredRows) else rows


def rows_of(rows: Iterable[Row], chains: Collection[str]) -> Iterable[Row]:
    """The rows of some chains."""
    if isinstance(rows, StoredRows):
        return rows.of_chains(chains)
    return (row for row in rows if row["chain"] in chains)


def with_any(rows: Iterable[Row], columns: Collection[str]) -> Iterator[Row]:
    """The rows that have a value in any of these columns."""
    if isinstance(rows, StoredRows):
        return rows.with_any(columns)
    return (row for row in rows if any(row.get(column) is not None for column in columns))


def by_chain(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Each chain with its rows. Stored rows of a chain that stand together are given before the next are read."""
    if isinstance(rows, SlicedRows):
        yield from rows.by_chain()
        return
    if not isinstance(rows, StoredRows) or not stand_together(rows):
        found: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            found[row["chain"]].append(row)
        yield from found.items()
        return
    own: list[Row] = []
    for row in rows:
        if own and own[0]["chain"] != row["chain"]:
            yield own[0]["chain"], own
            own = []
        own.append(row)
    if own:
        yield own[0]["chain"], own


def stand_together(rows: StoredRows) -> bool:
    """Whether no chain's rows are in two places, as no program of ours writes them."""
    names = [row["chain"] for row in rows.select(["chain"])]
    changes = sum(one != other for one, other in itertools.pairwise(names))
    return changes + bool(names) == len(set(names))
