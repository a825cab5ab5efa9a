"""Undo instructions that a language model wrote, compared with those of the suite."""

from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.paired_programs import Side, compare_sides
from ....analysis.tables import Column
from ....statistics import OnPage, Rows

TITLE = "Undo instructions written by a language model, against the suite's"
SECTION = "Two ways to ask for the same"
ON_PAGE = OnPage(order=20, line_where="writer")
MARK = "~"  # between the suite's program and who wrote its undo
COLUMNS = (
    Column("writer", "Written by"),
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("first", "Rounds kept, written", "rounds"),
    Column("second", "Rounds kept, the suite's words", "rounds"),
    Column("difference", "Difference", "change", interval=True),
    Column("first_undone", "Undone, written", "share"),
    Column("second_undone", "Undone, the suite's words", "share"),
    Column("p_value", "p", "p"),
    Column("verdict", "Lasts longer"),
    Column("cases", "Common cases", "count"),
    Column("sources", "Sources", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each writer and editor that did both."""
    programs = {case.program for group in analysis.groups.values() for own in group.cases.values() for case in own}
    writers = sorted({program.partition(MARK)[2] for program in programs if MARK in program})

    def side_of(program: str, writer: str) -> Side | None:
        base, _, own = program.partition(MARK)
        return (base, 0) if own == writer else (base, 1) if not own else None

    return [
        {"writer": writer} | row
        for writer in writers
        for row in compare_sides(
            analysis, ("written", "the suite's"), lambda program, own=writer: side_of(program, own)
        )  # type: ignore[misc]
    ]


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "The model was shown the instruction that asks for the change, and nothing else, and wrote the one that takes "
        "it back (`convergebench undos`). Compared on the same pictures, edits and runs."
    )
