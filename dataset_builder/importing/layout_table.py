"""Import layout `table`: a CSV or JSONL file with a row for each picture."""

import itertools
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from convergebench.generation.files import toml_beside
from convergebench.generation.records import STATUSES, Step, UserError

from .chains import MOST_ANSWERS, Findings, FoundAnswer, FoundChain, Problem, imported_program
from .tables import flag, number, read_rows, text, whole

_NEEDED = ("chain", "round", "path")
_STEP_FIELDS = ("seed", "latency", "cost", "text", "reason")  # copied into the step unchanged
_TABLE = toml_beside(__file__, "columns.toml")
_READERS: dict[str, Callable[..., object]] = {"text": text, "whole": whole, "number": number, "flag": flag}
_COLUMNS = {name: partial(_READERS[row["type"]], **row.get("limits", {})) for name, row in _TABLE.items()}
COLUMNS = {name: (row["rows"], row["meaning"]) for name, row in _TABLE.items()}  # for docs/import.md
_PROGRAM_FIELDS = ("category", "shows", "small")
_Row = dict[str, Any]
_Place = tuple[int, int]  # round and position


def find_chains(
    path: Path,
    editor: str | None,
    columns: Mapping[str, str],
    kind: str | None = None,
    closes: bool | None = None,
) -> Findings:
    """Chains from a row per picture; round 0 is the source.

    `columns` maps our column names to the table's; paths are relative to the table. In a round,
    rows without a position are numbered in their order. If every round has one step and their
    instructions differ, the rounds are read as turns of one open round, unless `closes` is set.
    """
    if unknown := [name for name in columns if name not in _COLUMNS]:
        raise UserError(f"no column {unknown[0]!r} to map; the columns are {', '.join(_COLUMNS)}")
    table_names = {name: columns.get(name, name) for name in _COLUMNS}
    rows = read_rows(path)
    for name in _NEEDED:
        if rows and table_names[name] not in rows[0]:
            columns_there = f"its columns are {', '.join(rows[0])}"
            raise UserError(f"{path} has no column {table_names[name]!r} for {name}; {columns_there}")
    chains: dict[tuple[str, str], list[_Row]] = {}
    for place, row in enumerate(rows, 1):
        where = f"{path}, row {place}"
        try:
            values = {name: read(name, row.get(table_names[name])) for name, read in _COLUMNS.items()}
            ours = {name: value for name, value in values.items() if value is not None}
            _check_row(ours, path.parent)
        except UserError as error:
            yield Problem(where, str(error))
            continue
        label = ours.get("editor") or editor
        if not label:
            raise UserError(f"{where} names no editor; pass --editor or map a column to editor")
        chains.setdefault((str(label), str(ours["chain"])), []).append({**ours, "where": where})
    for (label, name), members in chains.items():
        yield from _find_chain(path.parent, label, name, members, kind, closes)


def _check_row(row: _Row, base: Path) -> None:
    if "path" in row and not (base / row["path"]).resolve().is_relative_to(base.resolve()):
        raise UserError(f"path must be inside the table's folder, got {row['path'][:80]!r}")
    if "chain" not in row or "round" not in row or row.get("status", "ok") not in STATUSES[1:]:
        raise UserError(f"a row needs a chain, a round and one of these statuses: {', '.join(STATUSES[1:])}")


def _find_chain(
    base: Path, editor: str, name: str, rows: list[_Row], kind: str | None, closes: bool | None
) -> Findings:
    sources = [row for row in rows if row["round"] == 0]
    if len(sources) != 1 or "path" not in sources[0]:
        reason = f"chain {name!r} has {len(sources)} sources; exactly one row must have round 0, with a path"
        yield Problem(rows[0]["where"], reason)
        return
    source = sources[0]
    placed, problems = _by_place(name, rows)
    yield from problems
    if changed := _first_new_instruction(placed):
        what = f"is judged by the instructions of round 1; those of round {changed[0]} differ"
        if not closes and {position for _, position in placed} == {1}:
            placed, closes = {(1, round): row for (round, _), row in placed.items()}, False
            what = "has different instructions in each round; they are read as turns of an open round"
        yield Problem(source["where"], f"chain {name!r} {what}", is_note=True)
    last, length = max(placed, default=(0, 0)), max((position for _, position in placed), default=0)
    if not 0 < last[0] * length <= MOST_ANSWERS:
        too_many = f"more than {MOST_ANSWERS:,} answers, counting every round and position"
        yield Problem(source["where"], f"chain {name!r} has {too_many if placed else 'a source but no answer'}")
        return
    answers = _answers(base, name, placed, last, length)
    words = [(answer.instruction, answer.position) for answer, *_ in answers[:length]]
    cycle = [text or f"[position {position}; the words were not recorded]" for text, position in words]
    metadata = {key: value for key, value in source.items() if key in _PROGRAM_FIELDS}
    yield FoundChain(
        case=name,
        source=source.get("source", Path(source["path"]).stem),
        picture=base / source["path"],
        where=source["where"],
        program=imported_program(source.get("program", name), cycle, metadata, closes is not False),
        editor=editor,
        answers=tuple(answers),
        kind=kind or source.get("kind", "object"),
        run=source.get("run", 1),
        settings={"imported": "table"},
    )


def _by_place(name: str, rows: list[_Row]) -> tuple[dict[_Place, _Row], list[Problem]]:
    placed, problems = dict[_Place, _Row](), list[Problem]()
    for row in rows:
        if not (round := row["round"]):  # the source
            continue
        earlier = sum(place[0] == round for place in placed)
        place = round, row.get("position", earlier + 1)
        if placed.setdefault(place, row) is not row:
            reason = f"chain {name!r} has round {round}, position {place[1]} twice; the first row is used"
            problems.append(Problem(row["where"], reason))
    return placed, problems


def _first_new_instruction(placed: Mapping[_Place, _Row]) -> _Place | None:
    """The first place whose instruction differs from that of an earlier round; None if there is none."""
    first: dict[int, str] = {}
    for (round, position), row in sorted(placed.items()):
        words = " ".join(row.get("instruction", "").casefold().split())
        if words and first.setdefault(position, words) != words:
            return round, position
    return None


def _answers(
    base: Path, name: str, placed: Mapping[_Place, _Row], last: _Place, length: int
) -> list[FoundAnswer]:
    answers: list[FoundAnswer] = []
    for place in itertools.product(range(1, last[0] + 1), range(1, length + 1)):
        if place > last:
            break
        row = placed.get(place, {})
        where = row.get("where", f"chain {name!r}, round {place[0]}, position {place[1]}")
        fields = {key: row[key] for key in _STEP_FIELDS if key in row}
        status = row.get("status", "ok" if row else "unpublished")
        step = Step(0, *place, row.get("instruction", ""), status, **fields)
        answers.append((step, where, base / row["path"] if "path" in row else None))
    return answers
