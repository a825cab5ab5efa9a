"""Each editor's rounds kept by category, kind, program and reversibility."""

from collections.abc import Sequence
from typing import Any

from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.summary import summarise

from ..analysis.analysis import Analysis
from ..analysis.cases import Case
from ..analysis.groups import is_missing_case
from ..analysis.tables import Column
from . import OnPage

TITLE = "Rounds survived by category, kind, program and reversibility"
SECTION = "Where editors fail first"
ON_PAGE = OnPage(order=40, folded=True, part_by="by", caption=lambda rows: f"Rounds survived by {rows[0]['by']}")
SLICES = ("category", "kind", "program", "reversibility")
COLUMNS = (
    Column("group", "Programs", shown=False),
    Column("by", "By"),
    Column("value", "Which"),
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("half_life_text", "Half-life, rounds", interval=True),
    Column("rounds_kept", "Rounds kept, mean", "rounds", interval=True),
    Column("failed", "Missing", "share"),
    Column("cases", "Cases", "count"),
    Column("sources", "Sources", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row per editor and value of each slice."""
    found: list[dict[str, Any]] = []
    for name, group in analysis.groups.items():
        for by in SLICES:
            for value in sorted({getattr(case, by) for cases in group.cases.values() for case in cases}):
                for editor, cases in group.cases.items():
                    pairs = zip(cases, analysis.outcomes[name][editor], strict=True)
                    chosen = [(case, outcome) for case, outcome in pairs if getattr(case, by) == value]
                    if chosen:
                        about = {"group": name, "by": by, "value": value, "editor": editor}
                        found.append(about | {"role": group.role_title(editor)} | slice_row(chosen))
    return found


def slice_row(chosen: Sequence[tuple[Case, Outcome]]) -> dict[str, Any]:
    sources = [case.source for case, _ in chosen]
    own = summarise(
        [outcome for _, outcome in chosen], list(range(1, max(case.rounds for case, _ in chosen) + 1)), sources
    )
    low, high = own["mean_rounds_kept_interval"] or (None, None)
    first, last = own["half_life_interval"] or (None, None)
    return {
        "half_life_text": own["half_life_text"],
        "half_life_text_low": first,
        "half_life_text_high": last,
        "rounds_kept": own["mean_rounds_kept"],
        "rounds_kept_low": low,
        "rounds_kept_high": high,
        "failed": sum(is_missing_case(outcome) for _, outcome in chosen) / len(chosen),
        "cases": len(chosen),
        "sources": len(set(sources)),
    }
