"""The headline: one row per editor, ranks with ties, reference rows set apart."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import mean_interval
from convergebench.metric_modules.halflife.outcomes import CAUSES, Outcome
from convergebench.metric_modules.halflife.summary import summarise

from ..study.cases import Case
from ..study.groups import ROLES, CaseGroup, OutcomesByEditor, lowest_quality, outcome_of_curve
from ..study.tables import Column, Table, hide_empty_columns

COLUMNS = (
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("group", "Programs", shown=False),
    Column("name", "Headline", shown=False),
    Column("rank", "Rank", "count"),
    Column("half_life_text", "Half-life, rounds", interval=True),
    Column("half_life", "Half-life as a number", "count", shown=False),
    Column("rounds_kept", "Rounds kept, mean", "rounds", interval=True),
    Column("restricted_mean", "Restricted mean", "rounds", interval=True),
    Column("survival", "Still converging at the end", "share", interval=True, shown=False),
    Column("last_round", "End, round", "count", shown=False),
    Column("quality_text", "Quality half-life", interval=True),
    Column("quality_kept", "Rounds of quality, mean", "rounds", interval=True, shown=False),
    Column("meaning_text", "Meaning half-life", interval=True),
    Column("meaning_kept", "Rounds of meaning, mean", "rounds", interval=True, shown=False),
    Column("forward", "Edits made", "share", interval=True),
    Column("refused", "Refused", "share"),
    Column("no_image", "No picture", "share", shown=False),
    Column("failed", "Missing", "share"),
    Column("cost", "Cost a round", "money"),
    Column("seconds", "Time a round", "seconds"),
    Column("cause", "Mostly lost to"),
    Column("cause_share", "Share of that cause", "share", shown=False),
    Column("cases", "Cases", "count"),
    Column("sources", "Sources", "count"),
)
HEADLINE = ("editor", "rank", "half_life_text", "rounds_kept", "forward", "refused", "cause", "cases", "sources")


def row(
    editor: str,
    group: CaseGroup,
    outcomes: Sequence[Outcome],
    rank: int | None,
    threshold: float,
) -> dict[str, Any]:
    """All that the headline says of one editor; `outcomes` are those of its cases, in their order."""
    cases = group.cases[editor]
    sources = [case.source for case in cases]
    rounds = list(range(1, max(case.rounds for case in cases) + 1))
    own = summarise(outcomes, rounds, sources)
    causes = Counter(outcome.cause for outcome in outcomes if outcome.lost)
    first = max(causes, key=lambda cause: (causes[cause], -CAUSES.index(cause))) if causes else None
    meaning = [case.retained["clip"] if "clip" in group.checks else [] for case in cases]
    done = [case for case, outcome in zip(cases, outcomes, strict=True) if not outcome.failed]
    return {
        "editor": editor,
        "role": group.role_title(editor),
        "group": group.name,
        "name": group.headline,
        "rank": rank,
        **limits("half_life_text", own, "half_life_text", "half_life"),
        "half_life": own["half_life"],
        **limits("rounds_kept", own, "mean_rounds_kept"),
        **limits("restricted_mean", own, "restricted_mean"),
        # A share at an earlier round, where nobody was followed to the last one, would not be comparable.
        **(limits("survival", own, "survival") if own["last_round"] == rounds[-1] else {}),
        "last_round": own["last_round"],
        **curve(cases, [lowest_quality(case, group.checks) for case in cases], rounds, sources, "quality", threshold),
        **curve(cases, meaning, rounds, sources, "meaning", threshold),
        **forward(cases),
        "refused": sum(case.end == "refused" for case in cases) / len(cases),
        "no_image": sum(case.end == "no_image" for case in cases) / len(cases),
        "failed": sum(outcome.failed for outcome in outcomes) / len(cases),
        "cost": mean([case.cost for case in cases]),
        "seconds": mean([case.seconds for case in cases]),
        "cause": first and f"{first} ({causes[first] / max(len(done), 1):.0%})",
        "cause_share": causes[first] / max(len(done), 1) if first else None,
        "cases": len(cases),
        "sources": len(set(sources)),
    }


def group_rows(
    group: CaseGroup, outcomes: OutcomesByEditor, ranks: Mapping[str, int | None], threshold: float
) -> list[dict[str, Any]]:
    """Every row of one group: ranked editors first, then by mean rounds kept; reference rows last."""
    rows = [row(editor, group, outcomes[editor], ranks.get(editor), threshold) for editor in group.cases]
    order = list(ROLES.values())
    return sorted(
        rows,
        key=lambda row: (order.index(row["role"]), row["rank"] or 10**6, -(row["rounds_kept"] or 0), row["editor"]),
    )


def limits(key: str, summary: Mapping[str, Any], name: str, interval: str | None = None) -> dict[str, Any]:
    """A value with its limits as three columns."""
    low, high = summary[f"{interval or name}_interval"] or (None, None)
    return {key: summary[name], f"{key}_low": low, f"{key}_high": high}


def curve(
    cases: Sequence[Case],
    curves: Sequence[Sequence[float | None]],
    rounds: Sequence[int],
    sources: Sequence[str],
    key: str,
    threshold: float,
) -> dict[str, Any]:
    """Half-life and mean rounds of one metric, whatever ended convergence; empty where it is not checked."""
    if not any(curves):
        return {}
    outcomes = [outcome_of_curve(case, list(values), threshold) for case, values in zip(cases, curves, strict=True)]
    own = summarise(outcomes, rounds, sources)
    return limits(f"{key}_text", own, "half_life_text", "half_life") | limits(f"{key}_kept", own, "mean_rounds_kept")


def forward(cases: Sequence[Case]) -> dict[str, Any]:
    """The share of rounds whose edits were made. Rounds after a refusal count as not made: refusing never helps."""
    shares, sources = [], []
    for case in cases:
        if case.applied is None:
            continue
        asked = [made for made in case.applied if made is not None]
        if case.end in ("refused", "no_image", "shrunk") and case.end_round:
            asked += [False] * (case.rounds - case.end_round + (case.applied[case.end_round - 1] is None))
        if asked:
            shares.append(sum(asked) / len(asked))
            sources.append(case.source)
    if not shares:
        return {}
    low, high = mean_interval(np.array(shares), sources, 0.95) or (None, None)
    inside = (max(low, 0.0), min(high, 1.0)) if low is not None and high is not None else (None, None)
    return {"forward": sum(shares) / len(shares), "forward_low": inside[0], "forward_high": inside[1]}


def mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """A column that is empty for every editor is not shown, but for the rank."""
    note = "" if rows else "There is no case to count."
    return hide_empty_columns(Table("leaderboard", "Convergence", COLUMNS, rows, note), ["rank"])
