"""What ends convergence: cumulative incidence of the causes, and where editors fail first."""

from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.halflife.outcomes import CAUSES, Outcome
from convergebench.metric_modules.halflife.summary import summarise
from convergebench.metric_modules.halflife.survival import cumulative_incidence

from ..study.groups import CaseGroup
from ..study.tables import Column, Table

SLICES = ("category", "kind", "program", "reversibility")
COLUMNS = (
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("group", "Programs", shown=False),
    Column("round", "By round", "count"),
    Column("kept", "Still converging", "share"),
    *(Column(cause, cause.capitalize(), "share") for cause in CAUSES),
    Column("cases", "Cases", "count"),
)
BREAKDOWN = (
    Column("group", "Programs", shown=False),
    Column("by", "By"),
    Column("value", "Which"),
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("half_life_text", "Half-life, rounds", interval=True),
    Column("rounds_kept", "Rounds kept, mean", "rounds", interval=True),
    Column("cases", "Cases", "count"),
    Column("sources", "Sources", "count"),
)

Outcomes = Mapping[str, Sequence[Outcome]]


def table(groups: Sequence[CaseGroup], outcomes: Mapping[str, Outcomes]) -> Table:
    """The share of cases lost to each cause by each round; with the share still converging they add up to one."""
    rows: list[dict[str, Any]] = []
    for group in groups:
        for editor, cases in group.cases.items():
            about = {"group": group.name, "editor": editor, "role": group.role_title(editor)}
            rows += [about | row for row in incidence(outcomes[group.name][editor], max(case.rounds for case in cases))]
    shown = {cause for row in rows for cause in CAUSES if row[cause]}
    columns = tuple(column._replace(shown=column.shown and (column.key not in CAUSES or column.key in shown))
                    for column in COLUMNS)  # fmt: skip
    return Table("causes", "What ended convergence", columns, rows)


def incidence(outcomes: Sequence[Outcome], rounds: int) -> list[dict[str, Any]]:
    """One row per round: each cause's share so far, and who is left."""
    watched = [outcome for outcome in outcomes if outcome.time]
    if not watched:
        return []
    times, causes = [outcome.time for outcome in watched], [outcome.cause for outcome in watched]
    grid, shares = cumulative_incidence(times, causes)
    rows = []
    for round in range(1, rounds + 1):
        place = int((grid <= round).sum()) - 1
        known = {cause: float(values[place]) if place >= 0 else 0.0 for cause, values in shares.items()}
        every = {cause: known.get(cause, 0.0) for cause in CAUSES}
        rows.append({"round": round, "kept": max(0.0, 1 - sum(every.values())), **every, "cases": len(watched)})
    return rows


def breakdown(groups: Sequence[CaseGroup], outcomes: Mapping[str, Outcomes]) -> Table:
    """Each editor's rounds kept by category, kind, program and reversibility."""
    rows: list[dict[str, Any]] = []
    for group in groups:
        for name in SLICES:
            for value in sorted({getattr(case, name) for cases in group.cases.values() for case in cases}):
                for editor, cases in group.cases.items():
                    both = [
                        (case, outcome)
                        for case, outcome in zip(cases, outcomes[group.name][editor], strict=True)
                        if getattr(case, name) == value
                    ]
                    if both:
                        about = {"group": group.name, "by": name, "value": value, "editor": editor}
                        rows.append(about | {"role": group.role_title(editor)} | summary_row(both))
    return Table("breakdown", "Rounds kept by category, kind, program and reversibility", BREAKDOWN, rows)


def summary_row(both: Sequence[tuple[Any, Outcome]]) -> dict[str, Any]:
    sources = [case.source for case, _ in both]
    own = summarise([outcome for _, outcome in both], list(range(1, max(case.rounds for case, _ in both) + 1)), sources)
    low, high = own["mean_rounds_kept_interval"] or (None, None)
    first, last = own["half_life_interval"] or (None, None)
    return {
        "half_life_text": own["half_life_text"],
        "half_life_text_low": first,
        "half_life_text_high": last,
        "rounds_kept": own["mean_rounds_kept"],
        "rounds_kept_low": low,
        "rounds_kept_high": high,
        "cases": len(both),
        "sources": len(set(sources)),
    }
