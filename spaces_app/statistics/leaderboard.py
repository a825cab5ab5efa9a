"""The headline: one row per editor, ranks with ties, baselines set apart."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import mean_interval
from convergebench.metric_modules.halflife.outcomes import CAUSES, Outcome
from convergebench.metric_modules.halflife.summary import summarise

from ..analysis.analysis import Analysis
from ..analysis.cases import MEANINGS, Case
from ..analysis.groups import (
    ROLES,
    CaseGroup,
    OutcomesByEditor,
    count_failures,
    is_missing_case,
    lowest_quality,
    outcome_of_curve,
)
from ..analysis.tables import Column, Table, as_latex, capitalised, format_value, is_missing
from ..reporting.figures import Drawing, FigureContext, add_legend, new_figure
from . import EACH_GROUP, OnPage, Rows

TITLE = "Convergence"
SECTION = EACH_GROUP
ON_PAGE = OnPage(order=10, line_where="role", caption=lambda rows: capitalised(rows[0]["name"]))
COLUMNS = (
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("group", "Programs", shown=False),
    Column("name", "Headline", shown=False),
    Column("rank", "Rank", "count", interval=True, always=True),
    Column("rounds_kept", "Rounds kept, mean", "rounds", interval=True),
    Column("rounds_kept_two_way", "Rounds kept, limits for other programs too", "rounds", interval=True),
    Column("area", "Area under retained quality", "share", interval=True),
    Column("survival", "Still converging at the end", "share", interval=True),
    Column("survival_two_way", "Still converging, limits for other programs too", "share", interval=True, shown=False),
    Column("half_life_text", "Half-life, rounds", interval=True),
    Column("half_life", "Half-life as a number", "count", shown=False),
    Column("restricted_mean", "Restricted mean", "rounds", interval=True),
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
    Column("apart", "Listed apart because"),
)
HEADLINE = (
    *("editor", "role", "rank", "rounds_kept", "survival", "half_life_text", "forward", "refused", "failed"),
    *("cause", "cases", "sources", "apart"),
)


PAPER = ("editor", "rank", "rounds_kept", "survival", "cost", "cause")  # columns of a table for a paper


def latex(table: Table) -> str:
    """The table of one group of programs for a paper: few columns, a rule before the baselines."""
    empty = {key for key in PAPER if all(is_missing(row.get(key)) for row in table.rows)}
    return as_latex(table, [key for key in PAPER if key not in empty], "role")


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Every row of every group."""
    return [
        row
        for name, group in analysis.groups.items()
        for row in group_rows(
            group, analysis.outcomes[name], analysis.comparisons[name].ranks, analysis.options.threshold
        )
    ]


def note(analysis: Analysis, rows: Rows) -> str:
    return "" if rows else "There is no case to count."


def group_rows(
    group: CaseGroup, outcomes: OutcomesByEditor, ranks: Mapping[str, tuple[int, int] | None], threshold: float
) -> list[dict[str, Any]]:
    """The rows of one group: ranked editors first, then by mean rounds kept; baselines last."""
    found = [editor_row(editor, group, outcomes[editor], ranks.get(editor), threshold) for editor in group.cases]
    order = list(ROLES.values())
    return sorted(
        found,
        key=lambda row: (order.index(row["role"]), row["rank"] or 10**6, -(row["rounds_kept"] or 0), row["editor"]),
    )


def editor_row(
    editor: str,
    group: CaseGroup,
    outcomes: Sequence[Outcome],
    ranks: tuple[int, int] | None,
    threshold: float,
) -> dict[str, Any]:
    """All that the headline says of one editor; `outcomes` are those of its cases, in their order."""
    cases = group.cases[editor]
    sources = [case.source for case in cases]
    rounds = list(range(1, max(case.rounds for case in cases) + 1))
    own = summarise(outcomes, rounds, sources, programs=[case.program for case in cases])
    causes = Counter(outcome.cause for outcome in outcomes if outcome.lost)
    first = max(causes, key=lambda cause: (causes[cause], -CAUSES.index(cause))) if causes else None
    checks = group.checks_of(editor)
    lowest = [lowest_quality(case, checks) for case in cases]
    meaning = [case.retained[MEANINGS[0]] if MEANINGS and MEANINGS[0] in checks else [] for case in cases]
    done = [case for case, outcome in zip(cases, outcomes, strict=True) if not outcome.failed]
    return {
        "editor": editor,
        "role": group.role_title(editor),
        "group": group.name,
        "name": group.headline_name(checks),
        "rank": ranks and ranks[0],
        "rank_low": ranks and ranks[0],
        "rank_high": ranks and ranks[1],
        **with_limits("half_life_text", own, "half_life_text", "half_life"),
        "half_life": own["half_life"],
        **with_limits("rounds_kept", own, "mean_rounds_kept"),
        **with_limits("rounds_kept_two_way", own, "mean_rounds_kept", "mean_rounds_kept", "_two_way"),
        **area_under(cases, lowest),
        **with_limits("restricted_mean", own, "restricted_mean"),
        # A share at an earlier round, where nobody was followed to the last one, would not be comparable.
        **(
            with_limits("survival", own, "survival")
            | with_limits("survival_two_way", own, "survival", "survival", "_two_way")
            if own["last_round"] == rounds[-1]
            else {}
        ),
        "last_round": own["last_round"],
        **curve_columns(cases, lowest, rounds, sources, "quality", threshold),
        **curve_columns(cases, meaning, rounds, sources, "meaning", threshold),
        **forward_share(cases),
        "refused": sum(case.end == "refused" for case in cases) / len(cases),
        "no_image": sum(case.end == "no_image" for case in cases) / len(cases),
        "failed": sum(is_missing_case(outcome) for outcome in outcomes) / len(cases),
        "cost": known_mean([case.cost for case in cases]),
        "seconds": known_mean([case.seconds for case in cases]),
        "cause": first and f"{first} ({causes[first] / max(len(done), 1):.0%})",
        "cause_share": causes[first] / max(len(done), 1) if first else None,
        "cases": len(cases),
        "sources": len(set(sources)),
        "apart": "; ".join(group.apart.get(editor, ())) or None,
    }


def with_limits(
    key: str, summary: Mapping[str, Any], name: str, interval: str | None = None, over: str = ""
) -> dict[str, Any]:
    """A value with its limits as three columns."""
    low, high = summary[f"{interval or name}_interval{over}"] or (None, None)
    return {key: summary[name], f"{key}_low": low, f"{key}_high": high}


def curve_columns(
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
    own = summarise(count_failures(cases, outcomes), rounds, sources)
    half_life = with_limits(f"{key}_text", own, "half_life_text", "half_life")
    return half_life | with_limits(f"{key}_kept", own, "mean_rounds_kept")


def area_under(cases: Sequence[Case], curves: Sequence[Sequence[float | None]]) -> dict[str, Any]:
    """The mean retained quality over all planned rounds, whatever ended convergence; empty where none is checked.

    A round after the chain's end retains nothing, so that ending early never helps.
    """
    areas, sources = [], []
    for case, values in zip(cases, curves, strict=True):
        last = case.rounds if case.end == "complete" else (case.end_round or 1) - 1
        known = [value for value in values[:last] if value is not None]
        if known or (last < case.rounds and any(curves)):
            areas.append((sum(known) / max(len(known), 1)) * last / case.rounds)
            sources.append(case.source)
    if not areas:
        return {}
    low, high = mean_interval(np.array(areas), sources, 1.0) or (None, None)
    return {"area": sum(areas) / len(areas), "area_low": low, "area_high": high}


def forward_share(cases: Sequence[Case]) -> dict[str, Any]:
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
    low, high = mean_interval(np.array(shares), sources, 1.0) or (None, None)
    return {"forward": sum(shares) / len(shares), "forward_low": low, "forward_high": high}


def known_mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def figures(rows: Rows, context: FigureContext) -> list[Drawing]:
    """Rounds kept against what a round costs; only editors whose cost is known."""
    rows = [row for row in rows if row["cost"] is not None]
    if not rows or not context.is_first_group:
        return []
    figure, grid = new_figure(height=3.4)
    axes = grid[0, 0]
    for row in rows:
        look, middle = context.looks[row["editor"]], row["rounds_kept"]
        axes.plot(row["cost"], middle, marker=look.marker, color=look.colour, ms=9, ls="", label=row["editor"])
        if row["rounds_kept_low"] is not None:
            axes.plot([row["cost"]] * 2, [row["rounds_kept_low"], row["rounds_kept_high"]], color=look.colour, lw=1.5)
    axes.set_xlim(0)
    axes.set_ylim(0)
    axes.set_xlabel("US dollars a round")
    axes.set_ylabel("rounds survived, mean")
    add_legend(figure, axes)
    words = [
        f"{row['editor']} keeps {row['rounds_kept']:.1f} rounds at {format_value(row['cost'], 'money')}" for row in rows
    ]
    return [Drawing("price", "Rounds survived against the cost of a round", "; ".join(words) + ".", figure)]
