"""The layout table: a CSV or JSONL file with a row for each picture."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from convergebench.generation.records import STATUSES, Step, UserError

from .chains import MOST_ANSWERS, Findings, FoundAnswer, FoundChain, Problem, checked_kind, imported_program
from .tables import number, read_rows, text, whole

_NEEDED = ("chain", "round", "path")
_STEP_FIELDS = ("seed", "latency", "cost", "text", "reason")  # go into the step as they are
_TEXTS = (
    "chain",
    "path",
    "source",
    "instruction",
    "editor",
    "program",
    "kind",
    "category",
    "status",
    "text",
    "reason",
)
# Our columns, each with the function that reads a value.
_COLUMNS: dict[str, Callable[[str, Any], str | int | float | None]] = {
    **dict.fromkeys(_TEXTS, text),
    "round": whole,
    "position": partial(whole, low=1),
    "run": partial(whole, low=1),
    "seed": partial(whole, high=2**63 - 1),
    "latency": partial(number, low=0),
    "cost": partial(number, low=0),
}
_Row = dict[str, Any]


def find_chains(
    path: Path, editor: str | None, columns: Mapping[str, str], kind: str | None = None, closes: bool = True
) -> Findings:
    """Chains from a row per picture; round 0 is the source.

    `columns` maps our names to the table's; paths are relative to the table. Within a round, rows without a position
    count in their order.
    """
    if unknown := [name for name in columns if name not in _COLUMNS]:
        raise UserError(f"no column {unknown[0]!r} to map; the columns are {', '.join(_COLUMNS)}")
    theirs = {name: columns.get(name, name) for name in _COLUMNS}
    rows = read_rows(path)
    for name in _NEEDED:
        if rows and theirs[name] not in rows[0]:
            raise UserError(
                f"{path} has no column {theirs[name]!r} for {name}; its columns are {', '.join(rows[0])}"
            )
    chains: dict[tuple[str, str], list[_Row]] = {}
    for place, row in enumerate(rows, 1):
        where = f"{path}, row {place}"
        try:
            values = {name: read(name, row.get(theirs[name])) for name, read in _COLUMNS.items()}
            ours = {name: value for name, value in values.items() if value is not None}
            _check_row(ours, path.parent)
        except UserError as error:
            yield Problem(where, str(error))
            continue
        label = ours.get("editor") or editor
        if not label:
            raise UserError(f"{where}, names no editor; give --editor or a column for it")
        chains.setdefault((str(label), str(ours["chain"])), []).append({**ours, "where": where})
    for (label, name), members in chains.items():
        yield from _find_chain(path.parent, label, name, members, kind, closes)


def _check_row(row: _Row, base: Path) -> None:
    if "path" in row and not (base / row["path"]).resolve().is_relative_to(base.resolve()):
        raise UserError(f"path must be inside the table's folder, got {row['path'][:80]!r}")
    if "chain" not in row or "round" not in row or row.get("status", "ok") not in STATUSES[1:]:
        raise UserError(f"the row needs a chain, a round and a status out of {', '.join(STATUSES[1:])}")


def _find_chain(base: Path, editor: str, name: str, rows: list[_Row], kind: str | None, closes: bool) -> Findings:
    sources = [row for row in rows if row["round"] == 0]
    if len(sources) != 1 or "path" not in sources[0]:
        yield Problem(
            rows[0]["where"], f"chain {name!r} has {len(sources)} sources; one row has round 0 and its path"
        )
        return
    source = sources[0]
    placed: dict[tuple[int, int], _Row] = {}
    for row in rows:
        earlier = sum(round == row["round"] for round, _ in placed)
        place = (row["round"], row.get("position", earlier + 1))
        if place in placed:
            reason = f"chain {name!r} has round {place[0]}, position {place[1]} twice; the first counts"
            yield Problem(row["where"], reason)
        elif row is not source:
            placed[place] = row
    last, length = max(placed, default=(0, 0)), max((position for _, position in placed), default=0)
    if not placed or last[0] * length > MOST_ANSWERS:
        too_many = f"has more than {MOST_ANSWERS:,} answers by its rounds and positions"
        yield Problem(source["where"], f"chain {name!r} {too_many if placed else 'has a source but no answer'}")
        return
    every_place = [(round, position) for round in range(1, last[0] + 1) for position in range(1, length + 1)]
    answers = [_answer(base, name, place, placed.get(place, {})) for place in every_place if place <= last]
    cycle = [
        answer.instruction or f"[position {answer.position}; the words were not recorded]"
        for answer, *_ in answers[:length]
    ]
    yield FoundChain(
        case=name,
        source=source.get("source", Path(source["path"]).stem),
        picture=base / source["path"],
        where=source["where"],
        program=imported_program(source.get("program", name), cycle, source, closes),
        editor=editor,
        answers=tuple(answers),
        kind=checked_kind(kind or source.get("kind", "object")),
        run=source.get("run", 1),
        settings={"imported": "table"},
    )


def _answer(base: Path, name: str, place: tuple[int, int], row: _Row) -> FoundAnswer:
    where = row.get("where", f"chain {name!r}, round {place[0]}, position {place[1]}")
    data = base / row["path"] if "path" in row else None
    fields = {key: row[key] for key in _STEP_FIELDS if key in row}
    return Step(0, *place, row.get("instruction", ""), row.get("status", "ok"), **fields), where, data
