"""What the page says in words, all of it read off the tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..statistics.methods import WHAT
from ..study.cases import GROUPS
from ..study.groups import CHECKS
from ..study.tables import Table, cell, format_value


def all_of(tables: Mapping[str, Table]) -> dict[str, list[str]]:
    """Sentences by the part of the page they belong to."""
    board = tables["leaderboard"].rows
    known = {row["fact"]: row["value"] for row in tables["facts"].rows}
    groups = list(dict.fromkeys(row["group"] for row in board))
    found = {group: of_group(group, [row for row in board if row["group"] == group], tables, known) for group in groups}
    found["lead"] = lead(board, tables, known) if board else ["There is no case to count in these scores."]
    found["worst"] = [
        "For each editor the cases that were lost first, with pictures; the share is the retained quality of a return."
    ]
    return found


def lead(board: Sequence[Mapping[str, Any]], tables: Mapping[str, Table], known: Mapping[str, Any]) -> list[str]:
    """The first lines: who lasts, on how much."""
    first = board[0]["group"]
    rows = [row for row in board if row["group"] == first and row["role"] == "editors"] or [
        row for row in board if row["group"] == first
    ]
    column = next(column for column in tables["leaderboard"].columns if column.key == "rounds_kept")
    told = [f"{row['editor']} keeps {cell(row, column)} of {row['last_round']} rounds" for row in rows[:3]]
    counts = (
        f"{known['editors']} editors, {known['chains']} chains, {known['sources']} pictures of the suite "
        f"{known['suite']}. A change is asked for and taken back, round after round; a case counts until "
        "the change is not made, not taken back, or too much of the original is gone."
    )
    return [f"On average, {'; '.join(told)}.", counts]


def of_group(
    group: str, board: Sequence[Mapping[str, Any]], tables: Mapping[str, Table], known: Mapping[str, Any]
) -> list[str]:
    """What the group asks for, what was checked and what was not, and how much the ranks can bear."""
    checks = known[f"{group}: checks"].split(", ")
    missing = [
        WHAT[check] for check in CHECKS if check not in checks and not (check == "edits" and group != "round trips")
    ]
    said = [
        f"These are {GROUPS[group]}: {known[f'{group}: cases']} cases on {known[f'{group}: sources']} pictures, "
        f"up to {known[f'{group}: rounds']} rounds. Reference rows, below the double line, say where the scale begins "
        "and ends; they have no rank."
    ]
    if missing:
        said.append(f"Not computed for all editors, therefore neither counted nor drawn: {', '.join(missing)}.")
    partial = known[f"{group}: checks that only some editors have"]
    if partial != "none":
        said.append(f"Only some editors have {partial}; `convergebench score` adds what is missing.")
    if any(row["role"] == "editors" and row["rank"] is None for row in board):
        said.append(
            f"A verdict needs {known['sources for a verdict']} common pictures; without them an editor has no rank, "
            "and its numbers are indicative."
        )
    if known["excluded sources"] != "none":
        said.append(f"Left out, because too many unrelated pictures resemble them: {known['excluded sources']}.")
    on = {row["on"] for row in tables["curves"].rows if row["group"] == group and row["slice"] == "all"}
    words = (
        "the cases that all editors finished without technical failure"
        if on == {"common"}
        else "each editor's own cases"
    )
    said.append(
        f"Curves are drawn on {words}; a chain that was refused leaves them, so what still converges is the fairer "
        f"picture. Bands and brackets are {known['limits']} limits over pictures."
    )
    return said


def headline(tables: Mapping[str, Table], columns: Sequence[str]) -> Table:
    """The first group's headline, for a terminal."""
    board = tables["leaderboard"]
    rows = [row for row in board.rows if row["group"] == board.rows[0]["group"]] if board.rows else []
    empty = {key for key in columns if all(row.get(key) is None for row in rows)}
    shown = tuple(column for column in board.columns if column.key in columns and column.key not in empty)
    title = rows[0]["name"] if rows else board.note
    return Table(board.name, str(title), shown, rows, format_value(None, "text"))
