"""Adds score tables that others published: columns renamed, duplicates resolved by a rule, zeros declared."""

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.records import UserError, canonical, is_encodable

from ...building import card
from ...dataset.columns import Column
from ...dataset.reader import Reader
from ...dataset.schema import hash_file, write_listed
from ...importing.tables import read_rows
from .tables import PUBLISHED

KEY = ("editor", "case", "run", "round", "position")
PICTURES = ("image", "sha256")  # the picture that a case starts from; the hash of the answer that was scored
RESTORED = ("program", "clean", "scene", "degradation")  # what a table of restored pictures may name too
RESTORATION = "restoration"  # the category of its rows
TYPES = {"editor": str, "case": str, "image": str, "sha256": str, "run": int, "round": int, "position": int}
TYPES |= dict.fromkeys(RESTORED, str)
NAMES = {column.name: column for column in PUBLISHED.columns}
METRICS = ("psnr", "rmse", "ssim", "lpips", "clip")
SAME_PSNR = 1e-3  # dB; tables are printed with four digits after the point
RULES = ("refuse", "first", "last", "mean")


@dataclass(frozen=True)
class ImportedScores:
    """What an import of scores did."""

    file: Path
    rows: int
    matched: int  # rows whose chain is in this dataset, by the content of its pictures
    pictures: int  # how many different ones the table names; 0 where it names none
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
) -> ImportedScores:
    """Add a published table to the dataset's config `published`, replacing what the same table gave before.

    `columns` maps our names to the table's: editor, case, image, run, round, position, and any metric; `A+B` joins two
    columns. Nested JSON is flattened, with the names on the way to a row as level_1, level_2, ... A metric that is 0
    somewhere is in `zeros`, where 0 means "not computed", or in `real_zeros`.

    With `restoration` a row is one restored picture, or the mean of many: it may name the prompt (program), the clean
    picture, the scene and the degradation, it is of round 1 unless it says otherwise, and needs no case.
    """
    if duplicates not in RULES:
        raise UserError(f"no rule {duplicates!r} for duplicates; the rules are {', '.join(RULES)}")
    card.refuse_other_folders(folder)
    if not Reader(folder).files("chains"):
        raise UserError(f"{folder} is no dataset; `convergebench build` makes one")
    rows = list(flatten(read_rows(table)))
    metrics = check_columns(table, rows, columns, editor, zeros, restoration)
    for name in metrics:
        if name not in (*zeros, *real_zeros) and any(
            row.get(columns.get(name, name)) in (0, "0", "0.0") for row in rows
        ):
            ways = f"--zero-is-missing {name} or --zero-is-real {name}"
            raise UserError(f"{table} has zeros for {name}; say whether they mean that nothing was computed: {ways}")
    keyed: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for number, row in enumerate(rows, 1):
        ours = rename_columns(f"{table}, row {number}", row, columns, editor, metrics, restoration)
        keyed.setdefault(tuple(ours[name] for name in KEY), []).append(ours)
    chains = attached_chains(folder, keyed)
    published, zero_count = [], 0
    about = {"table": table.name, "table_sha256": hash_file(table), "signature": signature}
    about |= {"category": RESTORATION} if restoration else {}
    for key, same in keyed.items():
        values = resolve_duplicates(table, key, same, metrics, duplicates)
        blank = [name for name in metrics if values[name] == 0 and name in zeros]
        reasons = dict.fromkeys(blank, "published as 0, declared as not computed")
        reasons |= {name: "not published" for name in metrics if values[name] is None}
        zero_count += len(blank)
        empty = dict.fromkeys([*NAMES, *metrics])
        published.append(
            empty
            | {name: value for name, value in values.items() if name != "sha256"}
            | dict.fromkeys(blank)
            | about
            | {"reasons": canonical(reasons), "chain": chains.get(key[:3])}
        )
    published.sort(key=lambda row: tuple((row[name] is not None, row[name]) for name in KEY))
    extra = [Column(name, "float64", "as published") for name in metrics if name not in NAMES]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", table.stem).strip(".-") or "table"
    file = f"data/{PUBLISHED.name}/{name}.parquet"
    with disk_errors_explained(folder), locked(folder):
        card.refuse_other_folders(folder)
        config = replace(PUBLISHED, columns=(*PUBLISHED.columns, *extra))
        path = write_listed(folder, file, config, published).path
        card.write(folder)
    matched = sum(row["chain"] is not None for row in published)
    pictures = len({row["image"] for row in published} - {None})
    return ImportedScores(path, len(published), matched, pictures, len(rows) - len(published), zero_count)


def flatten(value: Any, above: Mapping[str, Any] | None = None, names: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Rows out of nested JSON: what has nothing nested inside is a row, together with all that stands above it."""
    if isinstance(value, list):
        for one in value:
            yield from flatten(one, above, names)
        return
    if not isinstance(value, dict):
        raise UserError(f"the table holds {str(value)[:40]!r} where a row is expected, an object with named values")
    inner = {name: one for name, one in value.items() if isinstance(one, dict) or (isinstance(one, list) and one)}
    own = {**(above or {}), **{name: one for name, one in value.items() if name not in inner}}
    if not inner:
        yield {**own, **{f"level_{depth}": name for depth, name in enumerate(names, 1)}}
    for name, one in inner.items():
        yield from flatten(one, own, [*names, name])


def check_columns(
    table: Path,
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    editor: str | None,
    zeros: Sequence[str],
    restoration: bool = False,
) -> list[str]:
    """The metrics that are there, after checking that every name given means something."""
    if not rows:
        raise UserError(f"{table} has no rows")
    there = list(rows[0])
    for name, theirs in columns.items():
        for part in joined_columns(theirs, there):
            if part not in there:
                raise UserError(f"{table} has no column {part!r} for {name}; its columns are {', '.join(there)}")
    metrics = [name for name in METRICS if columns.get(name, name) in there]
    places = (*KEY, *PICTURES, *(RESTORED if restoration else ()))
    metrics += [name for name in columns if name not in (*METRICS, *places)]
    if taken := [name for name in metrics if name in NAMES and name not in METRICS]:
        raise UserError(f"the name {taken[0]!r} is not a metric's; choose another for the column {columns[taken[0]]!r}")
    if not metrics:
        raise UserError(
            f"{table} has no metric; map one, such as --column psnr=PSNR; its columns are {', '.join(there)}"
        )
    for name in () if restoration else ("case", "round"):
        if name not in columns and name not in there:
            raise UserError(
                f"{table} has no column for {name}; map it, such as --column {name}=THEIRS out of {', '.join(there)}"
            )
    if not editor and columns.get("editor", "editor") not in there:
        raise UserError(f"{table} names no editor; give --editor or a column for it")
    if unknown := [name for name in zeros if name not in metrics]:
        raise UserError(f"no metric {unknown[0]!r} in {table}; the metrics are {', '.join(metrics)}")
    return metrics


def rename_columns(
    where: str,
    row: Mapping[str, Any],
    columns: Mapping[str, str],
    editor: str | None,
    metrics: Sequence[str],
    restoration: bool = False,
) -> dict[str, Any]:
    """One row under our names; what is empty is None."""
    ours: dict[str, Any] = {}
    for name in (*KEY, *PICTURES, *(RESTORED if restoration else ()), *metrics):
        parts = [row.get(part) for part in joined_columns(columns.get(name, name), row)]
        value = parts[0] if len(parts) == 1 else " ".join(map(str, parts))
        try:
            ours[name] = None if value in (None, "") else TYPES.get(name, float)(value)
        except (TypeError, ValueError, OverflowError):
            raise UserError(f"{where}, has {str(value)[:40]!r} for {name}; it must be a number") from None
        if TYPES.get(name) is int and ours[name] is not None and not 0 <= ours[name] < 2**31:
            raise UserError(f"{where}, has {str(value)[:40]!r} for {name}; it is a whole number from 0")
        if isinstance(ours[name], str) and not is_encodable(ours[name]):
            raise UserError(f"{where}, has a {name} with characters that no text has")
    ours["editor"] = ours["editor"] or editor
    ours["run"] = ours["run"] or 1
    if restoration:
        named = [ours[name] for name in ("image", *RESTORED) if ours[name]]
        ours |= {"round": ours["round"] or 1, "case": ours["case"] or ", ".join(named) or ours["editor"]}
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


def joined_columns(theirs: str, there: Container[str]) -> list[str]:
    """The columns of the table that one of ours is made of: `image+edit_pair` joins two."""
    return [theirs] if theirs in there or "+" not in theirs else theirs.split("+")


def attached_chains(
    folder: Path, keyed: Mapping[tuple[Any, ...], Sequence[Mapping[str, Any]]]
) -> dict[tuple[Any, ...], str]:
    """The dataset's chain of each published editor, case and run, where its content shows that it is the same one.

    Names prove nothing: a second study of the same cases bears the same ones. A chain is the one that was scored if
    its answers have the published hashes, or else, all rounds of the table, the published PSNR; where two have, none.
    """
    cases: dict[tuple[Any, ...], dict[int, Mapping[str, Any]]] = defaultdict(dict)
    for key, rows in keyed.items():
        cases[key[:3]][key[3]] = rows[0]
    ours = returns_by_chain(folder)
    found = {}
    for case, published in cases.items():
        same = [
            chain
            for (editor, chain), returns in ours.items()
            if editor == case[0] and all(is_same(row, returns.get(round)) for round, row in published.items())
        ]
        if len(same) == 1:
            found[case] = same[0]
    return found


def is_same(published: Mapping[str, Any], ours: Mapping[str, Any] | None) -> bool:
    """Whether a published row tells of this answer."""
    if ours is None:
        return False
    if published["sha256"] is not None:
        return bool(published["sha256"] == ours["sha256"])
    psnr = published.get("psnr"), ours["psnr"]
    return None not in psnr and abs(psnr[0] - psnr[1]) <= SAME_PSNR


def returns_by_chain(folder: Path) -> dict[tuple[str, str], dict[int, dict[str, Any]]]:
    """What is known of each chain's answers by round: their hashes and, where they were scored, their PSNR."""
    reader = Reader(folder)
    editors = {row["chain"]: row["editor"] for row in reader.table("chains", ["chain", "editor"]).to_pylist()}
    psnr = {}
    if reader.files("scores"):
        for row in reader.table("scores", ["chain", "step", "psnr"]).to_pylist():
            psnr[row["chain"], row["step"]] = row["psnr"]
    found: dict[tuple[str, str], dict[int, dict[str, Any]]] = defaultdict(dict)
    steps = reader.table("steps", ["chain", "step", "round", "position", "sha256"]).to_pylist()
    for row in sorted(steps, key=lambda row: row["step"]):  # the last position of a round stays
        if row["step"] and row["chain"] in editors:
            answer = {"sha256": row["sha256"], "psnr": psnr.get((row["chain"], row["step"]))}
            found[editors[row["chain"]], row["chain"]][row["round"]] = answer
    return found
