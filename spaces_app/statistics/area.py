"""Area under the degradation curve: the share of quality that an editor retains on average over all planned rounds."""

from typing import Any

from ..analysis.analysis import Analysis
from ..analysis.cases import RETAINED, Values, panel_title
from ..analysis.groups import CaseGroup, lowest_quality
from ..analysis.tables import Column
from . import OnPage, Rows
from .leaderboard import area_under

TITLE = "Area under the degradation curve"
SECTION = TITLE
ON_PAGE = OnPage(order=10, line_where="metric", folded=True)
COLUMNS = (
    Column("group", "Programs", shown=False),
    Column("metric", "Of retained"),
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("area", "Area, 1 is untouched", "share", interval=True),
    Column("cases", "Cases", "count"),
    Column("sources", "Sources", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each group, metric and editor, the largest area first."""
    return [row for group in analysis.groups.values() for row in group_rows(group)]


def group_rows(group: CaseGroup) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for metric in ("quality", *RETAINED):
        own = []
        for editor, cases in group.cases.items():
            curves: list[Values] = [
                lowest_quality(case, group.checks_of(editor)) if metric == "quality" else case.retained[metric]
                for case in cases
            ]
            area = area_under(cases, curves)
            if area:
                about = {"group": group.name, "editor": editor, "role": group.role_title(editor)}
                name = "quality (the lowest of them)" if metric == "quality" else panel_title(metric)
                counts = {"cases": len(cases), "sources": len({case.source for case in cases})}
                own.append(about | {"metric": name} | area | counts)
        found += sorted(own, key=lambda row: -row["area"])
    return found


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "The mean of what is retained over all planned rounds, whatever ended convergence; a round after a chain's end "
        "retains nothing, so that ending early never helps."
    )
