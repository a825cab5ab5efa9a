"""Imports a table of published scores into the config `published`."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from convergebench.generation.files import disk_errors_explained, file_name, locked
from convergebench.generation.records import UserError, canonical

from ...building import card
from ...dataset.columns import Column, Values
from ...dataset.reader import Reader
from ...dataset.rows import ChainRow, StepRow
from ...dataset.schema import hash_file, write
from ...importing.tables import number, read_table, text, whole
from .tables import PUBLISHED

METRICS = ("psnr", "rmse", "ssim", "lpips", "clip")
# Rows that agree in all of these describe one step.
_KEY: dict[str, Callable[..., Any]] = {
    "editor": text,
    "case": text,
    "run": whole,
    "round": whole,
    "position": whole,
}
_PICTURES = ("image", "sha256")  # the picture that a case starts from; the hash of the answer that was scored
_RESTORED = ("program", "clean", "scene", "degradation")  # further columns of a table of restored pictures
_NAMES = {column.name for column in PUBLISHED.columns}
_NOT_COMPUTED = "published as 0, declared as not computed"
_PSNR_TOLERANCE = 1e-3  # dB; tables are printed with four digits after the point
_Row = dict[str, Any]  # of the published table, by our column names


def import_scores(
    table: Path,
    folder: Path,
    columns: Mapping[str, str],
    editor: str | None = None,
    zeros: Sequence[str] = (),
    real_zeros: Sequence[str] = (),
    signature: str = "unknown",
    restoration: bool = False,
) -> dict[str, Any]:
    """Add a published table to the dataset, replacing its earlier rows; returns counts.

    `columns` maps our names to the table's. Nested JSON is flattened, with the keys
    above a row as level_1, level_2, ... Every metric with a 0 must be in `zeros`, if 0
    means "not computed", or in `real_zeros`. With `restoration` a row is one restored
    picture, or the mean of many, and needs no case and no round.
    """
    card.require_dataset(folder)
    flat = list(_flatten(read_table(table)))
    texts = (*_PICTURES, *_RESTORED) if restoration else _PICTURES
    metrics = _metrics_of(table, flat, columns, texts)
    types: dict[str, Callable[..., Any]] = {
        **dict.fromkeys(metrics, number),
        **_KEY,
        **dict.fromkeys(texts, text),
    }
    parsers = {name: partial(parse, name) for name, parse in types.items()}
    named = [{name: values.get(columns.get(name, name)) for name in parsers} for values in flat]
    rows = _rows_by_step(table, named, parsers, lambda row: _complete(row, editor, restoration))
    _check_zeros(table, rows, metrics, zeros, real_zeros)
    chains = _attached_chains(folder, rows)
    origin = {"table": table.name, "table_sha256": hash_file(table), "signature": signature}
    origin |= {"category": "restoration"} if restoration else {}
    published = []
    for row in sorted(rows, key=lambda row: [(row[name] is not None, row[name]) for name in _KEY]):
        chain = {"chain": chains.get(_chain_of(row))}
        published.append(_published_row(row, metrics, zeros) | origin | chain)
    return {
        "file": str(_write(folder, table, metrics, published)),
        "rows": len(published),
        "matched": sum(row["chain"] is not None for row in published),
        "pictures": len({row["image"] for row in published} - {None}),
        "repeated": len(flat) - len(published),
        "zeros": sum(str(row["reasons"]).count(_NOT_COMPUTED) for row in published),
    }


def _rows_by_step(
    table: Path,
    named: Sequence[Values],
    parsers: Mapping[str, Callable[[object], object]],
    complete: Callable[[_Row], _Row],
) -> list[_Row]:
    """The rows with their values parsed, one for each step."""
    rows: dict[tuple[Any, ...], _Row] = {}
    for place, values in enumerate(named, 1):
        try:
            row = complete({name: parsers[name](value) for name, value in values.items()})
        except UserError as error:
            raise UserError(f"{table}, row {place}: {error}") from None
        if rows.setdefault(tuple(row[name] for name in _KEY), row) != row:
            step = ", ".join(f"{name} {row[name]!r}" for name in _KEY if row[name] is not None)
            raise UserError(f"{table} has different rows for {step}; keep one of them")
    return list(rows.values())


def _published_row(row: _Row, metrics: Sequence[str], zeros: Sequence[str]) -> _Row:
    blank = [name for name in zeros if row[name] == 0]
    reasons = dict.fromkeys(blank, _NOT_COMPUTED)
    reasons |= {name: "not published" for name in metrics if row[name] is None}
    values = dict.fromkeys([*_NAMES, *metrics]) | row | dict.fromkeys(blank)
    values.pop("sha256")
    return values | {"reasons": canonical(reasons)}


def _write(folder: Path, table: Path, metrics: Sequence[str], rows: Sequence[_Row]) -> Path:
    extra = [Column(name, "float64", "as published") for name in metrics if name not in _NAMES]
    config = replace(PUBLISHED, columns=(*PUBLISHED.columns, *extra))
    file = f"data/{PUBLISHED.name}/{file_name(table.stem, 'table')}.parquet"
    with disk_errors_explained(folder), locked(folder):
        card.refuse_other_folders(folder)
        write(folder / file, config, rows, folder)
        card.write(folder, {PUBLISHED.name})
    return folder / file


def _flatten(value: Any, above: Values | None = None, names: Sequence[str] = ()) -> Iterator[Values]:
    """The innermost objects as rows, with the values around them."""
    if isinstance(value, list):
        for item in value:
            yield from _flatten(item, above, names)
        return
    if not isinstance(value, dict):
        raise UserError(f"the table holds {str(value)[:40]!r}; a row must be an object with named values")
    inner = {
        name: item for name, item in value.items() if isinstance(item, dict) or (isinstance(item, list) and item)
    }
    values = {**(above or {}), **{name: item for name, item in value.items() if name not in inner}}
    if not inner:
        yield {**values, **{f"level_{depth}": name for depth, name in enumerate(names, 1)}}
    for name, item in inner.items():
        yield from _flatten(item, values, [*names, name])


def _metrics_of(
    table: Path, rows: Sequence[Values], columns: Mapping[str, str], texts: Sequence[str]
) -> list[str]:
    if not rows:
        raise UserError(f"{table} has no rows")
    choices = f"its columns are {', '.join(rows[0])}"
    for name, theirs in columns.items():
        if theirs not in rows[0]:
            raise UserError(f"{table} has no column {theirs!r} for {name}; {choices}")
    metrics = [name for name in METRICS if columns.get(name, name) in rows[0]]
    metrics += [name for name in columns if name not in (*METRICS, *_KEY, *texts)]
    for name in metrics:
        if name in _NAMES and name not in METRICS:
            advice = f"choose another name for the column {columns[name]!r}"
            raise UserError(f"a metric cannot have the name {name!r}; {advice}")
    if not metrics:
        raise UserError(f"{table} has no metric; map one, such as --column psnr=PSNR; {choices}")
    return metrics


def _complete(row: _Row, editor: str | None, restoration: bool) -> _Row:
    row |= {"editor": row["editor"] or editor, "run": row["run"] or 1}
    if restoration:
        named = filter(None, (row[name] for name in ("image", *_RESTORED)))
        row |= {"round": row["round"] or 1, "case": row["case"] or ", ".join(named) or row["editor"]}
    if missing := [name for name in ("editor", "case", "round") if row[name] is None]:
        raise UserError(f"the row has no {missing[0]}; --column {missing[0]}=THEIRS names its column")
    return row


def _check_zeros(
    table: Path, rows: Iterable[_Row], metrics: Sequence[str], zeros: Sequence[str], real_zeros: Sequence[str]
) -> None:
    if unknown := [name for name in zeros if name not in metrics]:
        raise UserError(f"no metric {unknown[0]!r} in {table}; the metrics are {', '.join(metrics)}")
    for name in metrics:
        if name not in (*zeros, *real_zeros) and any(row[name] == 0 for row in rows):
            problem = f"{table} has zeros for {name}; say whether they mean that nothing was computed"
            raise UserError(f"{problem}: --zero-is-missing {name} or --zero-is-real {name}")


_Chain = tuple[str, str, int]  # as published: editor, case and run
_Answer = tuple[str | None, float | None]  # sha256 and PSNR of the last answer in a round of a chain here


def _chain_of(row: _Row) -> _Chain:
    return row["editor"], row["case"], row["run"]


def _attached_chains(folder: Path, rows: Iterable[_Row]) -> dict[_Chain, str]:
    """The dataset's chain for each published one, if they have the same answers.

    Names are not enough: another study of the same cases uses the same names.
    Every round must have the published hash, or without one the published PSNR.
    If two chains match, neither is used.
    """
    published: dict[_Chain, dict[int, _Row]] = defaultdict(dict)
    for row in rows:
        published[_chain_of(row)][row["round"]] = row
    ours = _answers_by_chain(folder)
    attached = {}
    for chain, rounds in published.items():
        same = [
            name
            for (editor, name), answers in ours.items()
            if editor == chain[0] and all(_is_same(row, *answers.get(n, ())) for n, row in rounds.items())
        ]
        if len(same) == 1:
            attached[chain] = same[0]
    return attached


def _is_same(published: _Row, sha256: str | None = None, psnr: float | None = None) -> bool:
    if published["sha256"] is not None:
        return bool(published["sha256"] == sha256)
    theirs = published.get("psnr")
    return theirs is not None and psnr is not None and abs(theirs - psnr) <= _PSNR_TOLERANCE


def _answers_by_chain(folder: Path) -> dict[tuple[str, str], dict[int, _Answer]]:
    reader = Reader(folder)
    editors = {row.chain: row.editor for row in reader.rows_of(ChainRow, ["chain", "editor"])}
    psnr = {(row["chain"], row["step"]): row["psnr"] for row in reader.rows("scores", ["chain", "step", "psnr"])}
    answers: dict[tuple[str, str], dict[int, _Answer]] = defaultdict(dict)
    steps = reader.rows_of(StepRow, ["chain", "step", "round", "sha256"])
    for row in sorted(steps, key=lambda row: row.step):
        if row.step and row.chain in editors:
            answers[editors[row.chain], row.chain][row.round] = (row.sha256, psnr.get((row.chain, row.step)))
    return answers
