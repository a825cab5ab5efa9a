"""Nested against crossed undo: two edits that are taken back the last one first, or in the order they came."""

from typing import Any

from ..analysis.analysis import Analysis
from ..analysis.paired_programs import Side, compare_sides
from ..analysis.tables import Column
from . import OnPage, Rows

TITLE = "Nested against crossed undo"
SECTION = "Two ways to ask for the same"
ON_PAGE = OnPage(order=10, line_where="role")
ENDS = {"-nested": 0, "-crossed": 1}
COLUMNS = (
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("first", "Rounds kept, last edit undone first", "rounds"),
    Column("second", "Rounds kept, first edit undone first", "rounds"),
    Column("difference", "Difference", "change", interval=True),
    Column("first_undone", "Undone, nested", "share"),
    Column("second_undone", "Undone, crossed", "share"),
    Column("p_value", "p", "p"),
    Column("verdict", "Lasts longer"),
    Column("cases", "Common cases", "count"),
    Column("sources", "Sources", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each editor that took the same two edits back in both orders."""
    return compare_sides(analysis, ("nested", "crossed"), side_of)


def side_of(program: str) -> Side | None:
    """What the programs of both orders have in common, and the order.

    >>> side_of("ball-chair-crossed"), side_of("hat")
    (('ball-chair', 1), None)
    """
    return next(((program.removesuffix(end), side) for end, side in ENDS.items() if program.endswith(end)), None)


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "Two edits are made one after the other. Nested: the last one is taken back first, as an undo button does. "
        "Crossed: the first one is taken back while the second still stands. Compared on the same pictures and runs."
    )
