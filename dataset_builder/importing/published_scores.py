"""Adds score tables that others published: columns renamed, duplicates resolved by a rule, zeros declared."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.records import UserError, canonical

from ..building import card
from ..dataset import manifest
from ..dataset.columns import PUBLISHED, Column
from ..dataset.reader import Reader
from ..dataset.schema import hash_file, write
from .tables import read_rows

KEY = ("editor", "case", "run", "round", "position")
TYPES = {"editor": str, "case": str, "run": int, "round": int, "position": int}
NAMES = {column.name: column for column in PUBLISHED.columns}
METRICS = ("psnr", "rmse", "ssim", "lpips", "clip")
RULES = ("refuse", "first", "last", "mean")


@dataclass(frozen=True)
class ImportedScores:
    """What an import of scores did."""

    file: Path
    rows: int
    matched: int  # rows whose chain is in this dataset
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
) -> ImportedScores:
    """Add a published table to the dataset's config `published`, replacing what the same table gave before.

    `columns` maps our names to the table's: editor, case, run, round, position, and any metric. Nested JSON is
    flattened, with the names on the way to a row as level_1, level_2, ... A metric that is 0 somewhere is in `zeros`,
    where 0 means "not computed", or in `real_zeros`.
    """
    if duplicates not in RULES:
        raise UserError(f"no rule {duplicates!r} for duplicates; the rules are {', '.join(RULES)}")
    card.refuse_other_folders(folder)
    if not Reader(folder).files("chains"):
        raise UserError(f"{folder} is no dataset; `convergebench build` makes one")
    rows = list(flatten(read_rows(table)))
    metrics = check_columns(table, rows, columns, editor, zeros)
    for name in metrics:
        if name not in (*zeros, *real_zeros) and any(
            row.get(columns.get(name, name)) in (0, "0", "0.0") for row in rows
        ):
            ways = f"--zero-is-missing {name} or --zero-is-real {name}"
            raise UserError(f"{table} has zeros for {name}; say whether they mean that nothing was computed: {ways}")
    keyed: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for number, row in enumerate(rows, 1):
        ours = rename_columns(f"{table}, row {number}", row, columns, editor, metrics)
        keyed.setdefault(tuple(ours[name] for name in KEY), []).append(ours)
    chains = chains_by_case(folder)
    published, zero_count = [], 0
    about = {"table": table.name, "table_sha256": hash_file(table), "signature": signature}
    for key, same in keyed.items():
        values = resolve_duplicates(table, key, same, metrics, duplicates)
        blank = [name for name in metrics if values[name] == 0 and name in zeros]
        reasons = dict.fromkeys(blank, "published as 0, declared as not computed")
        reasons |= {name: "not published" for name in metrics if values[name] is None}
        zero_count += len(blank)
        empty = dict.fromkeys([*NAMES, *metrics])
        published.append(
            empty
            | values
            | dict.fromkeys(blank)
            | about
            | {"reasons": canonical(reasons), "chain": chains.get(key[:3])}
        )
    published.sort(key=lambda row: tuple((row[name] is not None, row[name]) for name in KEY))
    extra = [Column(name, "float64", "as published") for name in metrics if name not in NAMES]
    path = (
        folder
        / "data"
        / PUBLISHED.name
        / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', table.stem).strip('.-') or 'table'}.parquet"
    )
    with disk_errors_explained(folder), locked(folder):
        card.refuse_other_folders(folder)
        manifest.expect(folder, {path.relative_to(folder).as_posix(): {}})
        write(path, [*PUBLISHED.columns, *extra], published, PUBLISHED.row)
        card.write(folder)
    matched = sum(row["chain"] is not None for row in published)
    return ImportedScores(path, len(published), matched, len(rows) - len(published), zero_count)


def flatten(value: Any, above: Mapping[str, Any] | None = None, names: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Rows out of nested JSON: what has nothing nested inside is a row, together with all that stands above it."""
    if isinstance(value, list):
        for one in value:
            yield from flatten(one, above, names)
        return
    inner = {name: one for name, one in value.items() if isinstance(one, dict) or (isinstance(one, list) and one)}
    own = {**(above or {}), **{name: one for name, one in value.items() if name not in inner}}
    if not inner:
        yield {**own, **{f"level_{depth}": name for depth, name in enumerate(names, 1)}}
    for name, one in inner.items():
        yield from flatten(one, own, [*names, name])


def check_columns(
    table: Path, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], editor: str | None, zeros: Sequence[str]
) -> list[str]:
    """The metrics that are there, after checking that every name given means something."""
    if not rows:
        raise UserError(f"{table} has no rows")
    there = list(rows[0])
    for name, theirs in columns.items():
        if theirs not in there:
            raise UserError(f"{table} has no column {theirs!r} for {name}; its columns are {', '.join(there)}")
    metrics = [name for name in METRICS if columns.get(name, name) in there]
    metrics += [name for name in columns if name not in (*METRICS, *KEY)]
    if taken := [name for name in metrics if name in NAMES and name not in METRICS]:
        raise UserError(f"the name {taken[0]!r} is not a metric's; choose another for the column {columns[taken[0]]!r}")
    if not metrics:
        raise UserError(
            f"{table} has no metric; map one, such as --column psnr=PSNR; its columns are {', '.join(there)}"
        )
    for name in ("case", "round"):
        if columns.get(name, name) not in there:
            raise UserError(
                f"{table} has no column for {name}; map it, such as --column {name}=THEIRS out of {', '.join(there)}"
            )
    if not editor and columns.get("editor", "editor") not in there:
        raise UserError(f"{table} names no editor; give --editor or a column for it")
    if unknown := [name for name in zeros if name not in metrics]:
        raise UserError(f"no metric {unknown[0]!r} in {table}; the metrics are {', '.join(metrics)}")
    return metrics


def rename_columns(
    where: str, row: Mapping[str, Any], columns: Mapping[str, str], editor: str | None, metrics: Sequence[str]
) -> dict[str, Any]:
    """One row under our names; what is empty is None."""
    ours: dict[str, Any] = {}
    for name in (*KEY, *metrics):
        value = row.get(columns.get(name, name))
        try:
            ours[name] = None if value in (None, "") else TYPES.get(name, float)(value)
        except (TypeError, ValueError):
            raise UserError(f"{where}, has {value!r} for {name}; it must be a number") from None
    ours["editor"] = ours["editor"] or editor
    ours["run"] = ours["run"] or 1
    if missing := [name for name in ("editor", "case", "round") if ours[name] is None]:
        raise UserError(f"{where}, has no {missing[0]}")
    return ours


def resolve_duplicates(
    table: Path, key: tuple[Any, ...], rows: Sequence[dict[str, Any]], metrics: Sequence[str], rule: str
) -> dict[str, Any]:
    """One row for one key, by the rule; equal rows need none."""
    if all(row == rows[0] for row in rows) or rule == "first":
        return rows[0]
    if rule == "last":
        return rows[-1]
    if rule == "refuse":
        named = ", ".join(f"{name} {value!r}" for name, value in zip(KEY, key, strict=True) if value is not None)
        raise UserError(
            f"{table} has {len(rows)} different rows for {named}; choose a rule: --duplicates first, last or mean"
        )
    known = {name: [row[name] for row in rows if row[name] is not None] for name in metrics}
    return rows[0] | {name: fmean(values) if values else None for name, values in known.items()}


def chains_by_case(folder: Path) -> dict[tuple[str, str, int], str]:
    """The dataset's chains by editor, case and run: an imported chain keeps its case's name, ours is SOURCE_PROGRAM."""
    found: dict[tuple[str, str, int], str] = {}
    for row in Reader(folder).table("chains", ["chain", "editor", "source", "program", "run", "settings"]).to_pylist():
        case = json.loads(row["settings"]).get("case") or f"{row['source']}_{row['program']}"
        found.setdefault((row["editor"], case, row["run"]), row["chain"])
    return found
