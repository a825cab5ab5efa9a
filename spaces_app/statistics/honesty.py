"""The report's table of the checks of honesty, editor by editor."""

from typing import Any

from ..study.honesty_checks import CASES
from ..study.study import Study
from ..study.tables import Column
from . import Rows

TITLE = "Checks of honesty"
SECTION = "The recall audit"
COLUMNS = (
    Column("editor", "Editor"),
    Column("check", "Check's name", shown=False),
    Column("title", "Check"),
    Column("value", "Value", "share"),
    Column("limit", "Limit", "share"),
    Column("cases", "Cases", "count"),
    Column("outcome", "Outcome"),
)


def rows(study: Study) -> list[dict[str, Any]]:
    """One row for each editor and check."""
    return study.honesty


def note(study: Study, rows: Rows) -> str:
    if not rows:
        return "No case of this dataset shows whether editors edit and forget honestly."
    return f"An editor that fails a check is listed apart. With fewer than {CASES} cases a check is not judged."
