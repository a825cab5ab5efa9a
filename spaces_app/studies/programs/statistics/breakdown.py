"""Each editor's rounds kept by category, kind, program and reversibility."""

from collections.abc import Mapping, Sequence

from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import summarise

from ....analysis.analysis import Analysis
from ....analysis.cases import Case
from ....analysis.groups import is_missing_case
from ....analysis.tables import Estimate, TableRow, column, from_summary
from ....statistics import OnPage

TITLE = "Rounds survived, by property of the test"
SECTION = "Where editors fail first"
ON_PAGE = OnPage(order=40, folded=True, part_by="by")
_SLICES = ("category", "kind", "program", "reversibility")


class Row(TableRow):
    group: str = column("Programs", shown=False)
    by: str = column("By")
    value: str = column("Value")
    editor: str = column("Editor")
    role: str = column("Role", shown=False)
    half_life_text: Estimate = column("Half-life, rounds")
    rounds_kept: Estimate = column("Rounds survived", "rounds")
    failed: float = column("Missing", "share")
    cases: int = column("Tests", "count")
    sources: int = column("Pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    rows = []
    for name, group in analysis.groups.items():
        for by in _SLICES:
            for value in sorted({getattr(case, by) for case in group.all_cases}):
                for editor, role in group.roles.items():
                    pairs = analysis.with_outcomes(group, editor)
                    if chosen := [pair for pair in pairs if getattr(pair[0], by) == value]:
                        place = {"group": name, "by": by, "value": value, "editor": editor, "role": role}
                        rows.append(_row(chosen, place))
    return rows


def _row(chosen: Sequence[tuple[Case, Outcome]], place: Mapping[str, str]) -> Row:
    sources = [case.source for case, _ in chosen]
    rounds = list(range(1, max(case.rounds for case, _ in chosen) + 1))
    summary = summarise([outcome for _, outcome in chosen], rounds, sources)
    return Row(
        **place,
        half_life_text=from_summary(summary, "half_life_text"),
        rounds_kept=from_summary(summary, "mean_rounds_kept"),
        failed=sum(is_missing_case(outcome) for _, outcome in chosen) / len(chosen),
        cases=len(chosen),
        sources=len(set(sources)),
    )
