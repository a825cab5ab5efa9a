"""Imports published score tables: renames columns, resolves duplicates by a rule, and interprets zeros."""

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.records import UserError, canonical

from ...building import card
from ...dataset.columns import Column, Values
from ...dataset.reader import Reader
from ...dataset.rows import ChainRow, StepRow
from ...dataset.schema import hash_file, write_listed
from ...importing.tables import number, read_table, text, whole
from .tables import PUBLISHED

METRICS = ("psnr", "rmse", "ssim", "lpips", "clip")
RULES = ("refuse", "first", "last", "mean")
_RESTORATION = "restoration"  # category of the rows for restored pictures
_PICTURES = ("image", "sha256")  # the picture that a case starts from; the hash of the answer that was scored
_RESTORED = ("program", "clean", "scene", "degradation")  # what a table of restored pictures may name too
_NAMES = {column.name for column in PUBLISHED.columns}
_NOT_COMPUTED = "published as 0, declared as not computed"
_SAME_PSNR = 1e-3  # dB; tables are printed with four digits after the point


class _Key(NamedTuple):
    """Identifies a published row; two rows with one key are duplicates."""

    editor: str
    case: str
    run: int
    round: int
    position: int | None

    @property
    def chain(self) -> tuple[str, str, int]:
        return self[:3]


@dataclass(frozen=True)
class _Row:
    """One row of the foreign table under our names."""

    key: _Key
    texts: Mapping[str, str | None]  # the columns of _PICTURES and _RESTORED
    metrics: dict[str, float | None]


@dataclass(frozen=True)
class _ImportedScores:
    """What an import of scores did."""

    file: Path
    rows: int
    matched: int  # rows whose chain is in this dataset, by the content of its pictures
    pictures: int  # distinct pictures that the table names
    settled: int  # rows that the rule for duplicates left out
    zeros: int  # zeros declared to mean that nothing was computed


def import_scores(
    table: Path,
    folder: Path,
    columns: Mapping[str, str],
    editor: str | None = None,
    zeros: Sequence[str] = (),
    duplicates: str = "refuse",
    signature: str = "unknown",
    real_zeros: Sequence[str] = (),
    restoration: bool = False,
) -> _ImportedScores:
    """Add a published table to the dataset's config `published`, replacing rows of the same table.

    `columns` maps our names to the table's: editor, case, image, run, round, position, and any metric; `A+B` joins two
    columns. Nested JSON is flattened, with the keys above a row as level_1, level_2, ... Every metric with a 0 must be
    in `zeros`, if 0 means "not computed", or in `real_zeros`.

    With `restoration` a row is one restored picture, or the mean of many. It may name the prompt (program), the clean
    picture, the scene and the degradation; its round is 1 by default, and it needs no case.
    """
    if duplicates not in RULES:
        raise UserError(f"the rule for duplicates must be one of {', '.join(RULES)}, got {duplicates!r}")
    card.refuse_other_folders(folder)
    if not Reader(folder).files("chains"):
        raise UserError(f"{folder} is not a dataset; `convergebench build` makes one")
    foreign = _ForeignTable(table, list(_flatten(read_table(table))), columns, editor, restoration)
    metrics = foreign.metrics()
    rows = list(foreign.renamed(metrics))
    _check_zeros(table, rows, metrics, zeros, real_zeros)
    rows_of_key: dict[_Key, list[_Row]] = defaultdict(list)
    for row in rows:
        rows_of_key[row.key].append(row)
    chains = _attached_chains(folder, rows_of_key)
    origin = {"table": table.name, "table_sha256": hash_file(table), "signature": signature}
    origin |= {"category": _RESTORATION} if restoration else {}
    published = [
        dict.fromkeys([*_NAMES, *metrics]) | origin | {"chain": chains.get(key.chain)}
        | _published_values(_resolve_duplicates(table, same, duplicates), zeros)
        for key, same in rows_of_key.items()
    ]  # fmt: skip
    published.sort(key=lambda row: tuple((row[name] is not None, row[name]) for name in _Key._fields))
    extra = [Column(name, "float64", "as published") for name in metrics if name not in _NAMES]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", table.stem).strip(".-") or "table"
    with disk_errors_explained(folder), locked(folder):
        card.refuse_other_folders(folder)
        config = replace(PUBLISHED, columns=(*PUBLISHED.columns, *extra))
        file = f"data/{PUBLISHED.name}/{name}.parquet"
        write_listed(folder, file, config, published)
        card.write(folder)
    return _ImportedScores(
        file=folder / file,
        rows=len(published),
        matched=sum(row["chain"] is not None for row in published),
        pictures=len({row["image"] for row in published} - {None}),
        settled=len(rows) - len(published),
        zeros=sum(str(row["reasons"]).count(_NOT_COMPUTED) for row in published),
    )


def _check_zeros(
    table: Path, rows: Sequence[_Row], metrics: Sequence[str], zeros: Sequence[str], real_zeros: Sequence[str]
) -> None:
    """Raise if a metric has zeros and neither option says what they mean."""
    if unknown := [name for name in zeros if name not in metrics]:
        raise UserError(f"no metric {unknown[0]!r} in {table}; the metrics are {', '.join(metrics)}")
    for name in metrics:
        if name not in (*zeros, *real_zeros) and any(row.metrics[name] == 0 for row in rows):
            ways = f"--zero-is-missing {name} or --zero-is-real {name}"
            raise UserError(f"{table} has zeros for {name}; say whether they mean that nothing was computed: {ways}")


def _published_values(row: _Row, zeros: Sequence[str]) -> dict[str, Any]:
    """The columns that a row of the foreign table fills."""
    blank = [name for name, value in row.metrics.items() if value == 0 and name in zeros]
    reasons = dict.fromkeys(blank, _NOT_COMPUTED)
    reasons |= {name: "not published" for name, value in row.metrics.items() if value is None}
    texts = {name: value for name, value in row.texts.items() if name in _NAMES}
    return row.key._asdict() | row.metrics | dict.fromkeys(blank) | texts | {"reasons": canonical(reasons)}


def _flatten(value: Any, above: Values | None = None, names: Sequence[str] = ()) -> Iterator[Values]:
    """Rows from nested JSON: each innermost object is a row, with the values of all objects above it."""
    if isinstance(value, list):
        for item in value:
            yield from _flatten(item, above, names)
        return
    if not isinstance(value, dict):
        raise UserError(f"the table holds {str(value)[:40]!r}; a row must be an object with named values")
    inner = {name: item for name, item in value.items() if isinstance(item, dict) or (isinstance(item, list) and item)}
    values = {**(above or {}), **{name: item for name, item in value.items() if name not in inner}}
    if not inner:
        yield {**values, **{f"level_{depth}": name for depth, name in enumerate(names, 1)}}
    for name, item in inner.items():
        yield from _flatten(item, values, [*names, name])


@dataclass(frozen=True)
class _ForeignTable:
    """A published table, and the options of its import."""

    path: Path
    rows: Sequence[Values]
    columns: Mapping[str, str]  # our names to theirs
    editor: str | None
    restoration: bool

    @property
    def texts(self) -> tuple[str, ...]:
        return (*_PICTURES, *_RESTORED) if self.restoration else _PICTURES

    def metrics(self) -> list[str]:
        """The metrics that the table has; raises if a mapped or required column is missing."""
        if not self.rows:
            raise UserError(f"{self.path} has no rows")
        present = list(self.rows[0])
        choices = f"its columns are {', '.join(present)}"
        for name, theirs in self.columns.items():
            for part in _joined_columns(theirs, present):
                if part not in present:
                    raise UserError(f"{self.path} has no column {part!r} for {name}; {choices}")
        metrics = [name for name in METRICS if self.columns.get(name, name) in present]
        metrics += [name for name in self.columns if name not in (*METRICS, *_Key._fields, *self.texts)]
        for name in metrics:
            if name in _NAMES and name not in METRICS:
                raise UserError(
                    f"the name {name!r} is not a metric's; choose another for the column {self.columns[name]!r}"
                )
        if not metrics:
            raise UserError(f"{self.path} has no metric; map one, such as --column psnr=PSNR; {choices}")
        for name in () if self.restoration else ("case", "round"):
            if self.columns.get(name, name) not in present and name not in self.columns:
                raise UserError(
                    f"{self.path} has no column for {name}; map it, such as --column {name}=THEIRS; {choices}"
                )
        if not self.editor and self.columns.get("editor", "editor") not in present:
            raise UserError(f"{self.path} names no editor; give --editor or a column for it")
        return metrics

    def renamed(self, metrics: Sequence[str]) -> Iterator[_Row]:
        """The rows under our names."""
        for place, row in enumerate(self.rows, 1):
            try:
                yield self._renamed(row, metrics)
            except UserError as error:
                raise UserError(f"{self.path}, row {place}: {error}") from None

    def _renamed(self, row: Values, metrics: Sequence[str]) -> _Row:
        def value(name: str) -> Any:
            parts = [row.get(part) for part in _joined_columns(self.columns.get(name, name), row)]
            return parts[0] if len(parts) == 1 else " ".join(map(str, parts))

        editor, case = (text(name, value(name)) for name in ("editor", "case"))
        run, round, position = (whole(name, value(name)) for name in ("run", "round", "position"))
        texts = {name: text(name, value(name)) for name in self.texts}
        editor = editor or self.editor
        if self.restoration:
            named = [texts[name] for name in ("image", *_RESTORED)]
            round, case = round or 1, case or ", ".join(filter(None, named)) or editor
        if editor is None or case is None or round is None:
            raise UserError(f"the row has no {'editor' if editor is None else 'case' if case is None else 'round'}")
        key = _Key(editor, case, run or 1, round, position)
        return _Row(key, texts, {name: number(name, value(name)) for name in metrics})


def _joined_columns(theirs: str, columns: Container[str]) -> list[str]:
    """The table's columns that make up one of ours: `image+edit_pair` joins two."""
    return [theirs] if theirs in columns or "+" not in theirs else theirs.split("+")


def _resolve_duplicates(table: Path, rows: Sequence[_Row], rule: str) -> _Row:
    """One row out of several with the same key, by the rule unless they are equal."""
    first = rows[0]
    if all(row == first for row in rows) or rule == "first":
        return first
    if rule == "last":
        return rows[-1]
    if rule == "refuse":
        named = ", ".join(f"{name} {value!r}" for name, value in first.key._asdict().items() if value is not None)
        raise UserError(
            f"{table} has {len(rows)} different rows for {named}; choose a rule: --duplicates first, last or mean"
        )
    means: dict[str, float | None] = {}
    for name in first.metrics:
        values = [value for row in rows if (value := row.metrics[name]) is not None]
        means[name] = fmean(values) if values else None
    return replace(first, metrics=means)


_Answer = tuple[str | None, float | None]  # sha256 and PSNR of the last answer in a round of a chain here


def _attached_chains(folder: Path, rows_of_key: Mapping[_Key, Sequence[_Row]]) -> dict[tuple[str, str, int], str]:
    """The dataset's chain for each published editor, case and run, if its content shows that it was the one scored.

    Names are not enough, because another study of the same cases uses the same names. The answers must have the
    published hashes, or else the published PSNR in every round of the table; if two chains match, neither counts.
    """
    cases: dict[tuple[str, str, int], dict[int, _Row]] = defaultdict(dict)
    for key, rows in rows_of_key.items():
        cases[key.chain][key.round] = rows[0]
    ours = _answers_by_chain(folder)
    attached = {}
    for case, published in cases.items():
        same = [
            chain
            for (editor, chain), answers in ours.items()
            if editor == case[0] and all(_is_same(row, answers.get(round)) for round, row in published.items())
        ]
        if len(same) == 1:
            attached[case] = same[0]
    return attached


def _is_same(published: _Row, ours: _Answer | None) -> bool:
    """Whether a published row describes this answer."""
    sha256, psnr = ours or (None, None)
    if published.texts["sha256"] is not None:
        return published.texts["sha256"] == sha256
    theirs = published.metrics.get("psnr")
    return theirs is not None and psnr is not None and abs(theirs - psnr) <= _SAME_PSNR


def _answers_by_chain(folder: Path) -> dict[tuple[str, str], dict[int, _Answer]]:
    """The last answer of each round, by editor and chain, with its PSNR if it was scored."""
    reader = Reader(folder)
    editors = {row.chain: row.editor for row in reader.rows_of(ChainRow, ["chain", "editor"])}
    psnr = {(row["chain"], row["step"]): row["psnr"] for row in reader.rows("scores", ["chain", "step", "psnr"])}
    answers: dict[tuple[str, str], dict[int, _Answer]] = defaultdict(dict)
    steps = reader.rows_of(StepRow, ["chain", "step", "round", "sha256"])
    for row in sorted(steps, key=lambda row: row.step):
        if row.step and row.chain in editors:
            answers[editors[row.chain], row.chain][row.round] = (row.sha256, psnr.get((row.chain, row.step)))
    return answers
