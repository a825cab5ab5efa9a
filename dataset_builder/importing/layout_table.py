"""The layout table: a CSV or JSONL file with a row for each picture."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convergebench.generation.records import STATUSES, UserError, is_encodable

from .chains import MOST_ANSWERS, Findings, FoundAnswer, FoundChain, Problem, checked_kind, imported_program
from .tables import objects, read_rows

MOST_CHARACTERS = 100_000  # of one value
NEEDED = ("chain", "round", "path")
TYPES: dict[str, type] = {
    **dict.fromkeys(("chain", "path", "source", "instruction", "editor", "program", "kind", "category", "status"), str),
    **dict.fromkeys(("round", "position", "run", "seed"), int),
    **dict.fromkeys(("latency", "cost"), float),
    **dict.fromkeys(("text", "reason"), str),
}
STEP_FIELDS = ("seed", "latency", "cost", "text", "reason")  # go into the step as they are
Row = dict[str, Any]


def find_chains(
    path: Path, editor: str | None, columns: Mapping[str, str], kind: str | None = None, closes: bool = True
) -> Findings:
    """A row per picture: its chain, its round (0 for the source) and its path, and whatever else is known.

    `columns` maps our names to the table's; paths are relative to the table. Rows of one round without a position are
    taken in their order.
    """
    if unknown := [name for name in columns if name not in TYPES]:
        raise UserError(f"no column {unknown[0]!r} to map; they are {', '.join(TYPES)}")
    theirs = {name: columns.get(name, name) for name in TYPES}
    rows = objects(path, read_rows(path))
    for name in NEEDED:
        if rows and theirs[name] not in rows[0]:
            raise UserError(f"{path} has no column {theirs[name]!r} for {name}; its columns are {', '.join(rows[0])}")
    chains: dict[tuple[str, str], list[Row]] = {}
    for number, row in enumerate(rows, 1):
        where = f"{path}, row {number}"
        ours = {name: row[own] for name, own in theirs.items() if row.get(own) not in (None, "")}
        try:
            ours = {name: TYPES[name](value) for name, value in ours.items()}
        except (ValueError, TypeError, OverflowError) as error:
            yield Problem(where, f"has a value that is no number ({str(error)[:80]})")
            continue
        if problem := unbuildable(ours, path.parent):
            yield Problem(where, problem)
            continue
        if "chain" not in ours or ours.get("round", -1) < 0 or ours.get("status", "ok") not in STATUSES[1:]:
            yield Problem(where, f"needs a chain, a round from 0 and a status out of {', '.join(STATUSES[1:])}")
            continue
        label = ours.get("editor") or editor
        if not label:
            raise UserError(f"{where}, names no editor; give --editor or a column for it")
        chains.setdefault((label, ours["chain"]), []).append({**ours, "where": where})
    for (label, name), members in chains.items():
        yield from find_chain(path.parent, label, name, members, kind, closes)


def unbuildable(row: Row, base: Path) -> str | None:
    """What keeps a row's values from a dataset, in words that follow its place; None where nothing does."""
    for name, value in row.items():
        if isinstance(value, str) and ("\0" in value or not is_encodable(value)):
            return f"has a {name} with characters that no text has"
        if isinstance(value, str) and len(value) > MOST_CHARACTERS:
            return f"has a {name} of {len(value):,} characters; at most {MOST_CHARACTERS:,} are taken"
        if isinstance(value, float) and not 0 <= value < math.inf:
            return f"has the {name} {value}; it is a number from 0"
        low, high = (0, 2**63) if name == "seed" else (0 if name == "round" else 1, 2**31)
        if isinstance(value, int) and not low <= value < high:
            return f"has the {name} {str(value)[:20]}, which is out of range"
    if "path" in row and not (base / row["path"]).resolve().is_relative_to(base.resolve()):
        return f"has the path {row['path'][:80]!r}, which leaves the table's folder"
    return None


def find_chain(base: Path, editor: str, name: str, rows: list[Row], kind: str | None, closes: bool) -> Findings:
    """One chain: the row of round 0 is its source, the others its answers."""
    sources = [row for row in rows if row["round"] == 0]
    if len(sources) != 1 or "path" not in sources[0]:
        yield Problem(rows[0]["where"], f"chain {name!r} has {len(sources)} sources; one row has round 0 and its path")
        return
    placed: dict[tuple[int, int], Row] = {}
    for row in rows:
        taken = sum(round == row["round"] for round, _ in placed)
        place = (row["round"], row.get("position", taken + 1))
        if place in placed:
            yield Problem(
                row["where"], f"chain {name!r} has round {place[0]}, position {place[1]} twice; the first counts"
            )
        elif row is not sources[0]:
            placed[place] = row
    if not placed:
        yield Problem(rows[0]["where"], f"chain {name!r} has a source but no answer")
        return
    first = sources[0]
    length = max(position for _, position in placed)
    if max(placed)[0] * length > MOST_ANSWERS:
        yield Problem(
            first["where"], f"chain {name!r} has more than {MOST_ANSWERS:,} answers by its rounds and positions"
        )
        return
    answers = find_answers(base, name, placed, length)
    cycle = [
        answer.instruction or f"[position {answer.position}; the words were not recorded]"
        for answer in answers[:length]
    ]
    yield FoundChain(
        case=name,
        source=first.get("source", Path(first["path"]).stem),
        picture=base / first["path"],
        where=first["where"],
        program=imported_program(first.get("program", name), cycle, first, closes),
        editor=editor,
        answers=tuple(answers),
        kind=checked_kind(kind or first.get("kind", "object")),
        run=first.get("run", 1),
        settings={"imported": "table"},
    )


def find_answers(base: Path, name: str, placed: Mapping[tuple[int, int], Row], length: int) -> list[FoundAnswer]:
    """Every answer up to the last known one; one without a row is missing."""
    last = max(placed)
    answers = []
    for round in range(1, last[0] + 1):
        for position in range(1, length + 1):
            if (round, position) > last:
                break
            row = placed.get((round, position), {})
            where = row.get("where", f"chain {name!r}, round {round}, position {position}")
            data = base / row["path"] if "path" in row else None
            more = {key: row[key] for key in STEP_FIELDS if key in row}
            words = row.get("instruction", "")
            answers.append(FoundAnswer(round, position, words, where, data, row.get("status", "ok"), more))
    return answers
