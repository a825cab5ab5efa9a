from functools import partial

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column
from ....statistics import OnPage
from ...two_ways import Side, compare_sides

TITLE = "Undo instructions written by a language model, against the suite's"
SECTION = "Two ways to ask for the same thing"
ON_PAGE = OnPage(order=20, line_where="writer")
NOTE = (
    "The model saw only the instruction for the change and wrote the one that undoes it "
    "(`convergebench undos`). Compared on the same pictures, edits and runs."
)
_MARK = "~"  # between the suite's program and who wrote its undo


class Row(TableRow):
    writer: str = column("Written by")
    editor: str = column("Editor")
    role: str = column("Role", shown=False)
    first: float = column("Rounds survived, written", "rounds")
    second: float = column("Rounds survived, the suite's words", "rounds")
    difference: Estimate = column("Difference", "change")
    first_undone: float | None = column("Undone, written", "share")
    second_undone: float | None = column("Undone, the suite's words", "share")
    p_value: float | None = column("p", "p")
    verdict: str = column("Lasts longer")
    cases: int = column("Common cases", "count")
    sources: int = column("Pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    cases = [case for group in analysis.groups.values() for case in group.all_cases]
    rows = []
    for writer in sorted({case.program.partition(_MARK)[2] for case in cases if _MARK in case.program}):
        side_of = partial(_side_of, writer=writer)
        rows += compare_sides(analysis, Row, ("written", "the suite's"), side_of, writer=writer)
    return rows


def _side_of(program: str, writer: str) -> Side | None:
    base, _, written_by = program.partition(_MARK)
    return (base, 0) if written_by == writer else (base, 1) if not written_by else None
