"""The report's table of the checks of honesty, editor by editor."""

from collections.abc import Sequence

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column, format_value
from ..checks import CASES, CHECKS, LIMITS, findings

TITLE = "Checks of honesty"
SECTION = "Checks of honesty"


class Row(TableRow):
    editor: str = column("Editor")
    check: str = column("Check's name", shown=False)
    title: str = column("Check")
    value: float | None = column("Value as a number", "number", shown=False)
    limit: float | None = column("Limit as a number", "number", shown=False)
    value_text: str = column("Value")
    limit_text: str = column("Limit")
    cases: int = column("Tests", "count")
    outcome: str = column("Outcome")


def rows(analysis: Analysis) -> list[Row]:
    """One row for each editor and check."""
    rows = []
    for editor, name, verdict in analysis.once(findings):
        check = CHECKS[name]
        form = "rounded" if check.is_count else "share"
        rows.append(
            Row(
                editor=editor,
                check=name,
                title=check.title,
                value=verdict.value,
                limit=LIMITS.get(name),
                value_text=format_value(verdict.value, form),
                limit_text=format_value(LIMITS.get(name), form),
                cases=verdict.cases,
                outcome=verdict.outcome,
            )
        )
    return rows


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    if not rows:
        return "No test of this dataset shows whether editors edit and forget honestly."
    return f"An editor that fails a check is listed apart. With fewer than {CASES} tests a check is not judged."
