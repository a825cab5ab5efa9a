"""The report's table of the recall audit, editor by editor."""

from typing import Any

from ..analysis.analysis import Analysis
from ..analysis.recall_outcomes import recall_of
from ..analysis.tables import Column
from . import Rows

TITLE = "The recall audit"
SECTION = "The recall audit"
COLUMNS = (
    Column("editor", "Editor"),
    Column("marked", "Chains with planted marks", "count"),
    Column("mirrored", "Mirrored chains", "count"),
    Column("judged", "Chains judged", "count"),
    Column("recalled", "Far closer to what was never shown again", "count"),
    Column("noised", "Chains with noise", "count"),
    Column("outcome", "Outcome"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row per editor that has audited chains."""
    return analysis.once(recall_of)


def note(analysis: Analysis, rows: Rows) -> str:
    return "" if rows else "No chain of this dataset was audited for recall."
