"""The report's table of the checks of honesty, editor by editor."""

from typing import Any

from ..analysis.analysis import Analysis
from ..analysis.honesty_checks import CASES, COUNTED, honesty_of
from ..analysis.tables import Column, format_value
from . import Rows

TITLE = "Checks of honesty"
SECTION = "The recall audit"
LIMITED = ("value", "limit")
COLUMNS = (
    Column("editor", "Editor"),
    Column("check", "Check's name", shown=False),
    Column("title", "Check"),
    Column("value", "Value as a number", "number", shown=False),
    Column("limit", "Limit as a number", "number", shown=False),
    Column("value_text", "Value"),
    Column("limit_text", "Limit"),
    Column("cases", "Cases", "count"),
    Column("outcome", "Outcome"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row for each editor and check."""
    found = []
    for row in analysis.once(honesty_of):
        form = "rounded" if row["check"] in COUNTED else "share"
        found.append(row | {f"{key}_text": format_value(row[key], form) for key in LIMITED})
    return found


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return "No test of this dataset shows whether editors edit and forget honestly."
    return f"An editor that fails a check is listed apart. With fewer than {CASES} tests a check is not judged."
