"""The report's table of the checks of honesty, editor by editor."""

from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.tables import Column, format_value
from ....statistics import Rows
from ..checks import CASES, CHECKS, findings

TITLE = "Checks of honesty"
SECTION = "Checks of honesty"
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
    for editor, name, verdict in analysis.once(findings):
        check = CHECKS[name]
        form = "rounded" if check.is_count else "share"
        found.append(
            {
                "editor": editor,
                "check": name,
                "title": check.title,
                "value": verdict.value,
                "limit": check.limit,
                "value_text": format_value(verdict.value, form),
                "limit_text": format_value(check.limit, form),
                "cases": verdict.cases,
                "outcome": verdict.outcome,
            }
        )
    return found


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return "No test of this dataset shows whether editors edit and forget honestly."
    return f"An editor that fails a check is listed apart. With fewer than {CASES} tests a check is not judged."
