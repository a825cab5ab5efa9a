"""The headline: one row per editor, ranks with ties, baselines listed separately."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from convergebench.metric_modules.halflife.causes import CAUSES
from convergebench.metric_modules.halflife.intervals import mean_interval
from convergebench.metric_modules.halflife.outcomes import Outcome
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
from ..analysis.tables import (
    Estimate,
    Table,
    TableRow,
    as_latex,
    column,
    estimate,
    format_value,
)
from ..reporting.figures import Drawing, FigureContext, add_legend, new_figure
from . import EACH_GROUP, OnPage

TITLE = "Convergence"
SECTION = EACH_GROUP
ON_PAGE = OnPage(order=10, line_where="role", caption="name")


class Row(TableRow):
    editor: str = column("Editor")
    role: str = column("Role", shown=False)
    group: str = column("Programs", shown=False)
    name: str = column("Headline", shown=False)
    rank: Estimate = column("Rank", "count", always=True)
    rounds_kept: Estimate = column("Rounds survived", "rounds")
    rounds_kept_two_way: Estimate = column("Rounds survived, any program", "rounds")
    area: Estimate = column("Area under retained quality", "share")
    survival: Estimate = column("Survived all rounds", "share")
    survival_two_way: Estimate = column("Survived all rounds, any program", "share", shown=False)
    half_life_text: Estimate = column("Half-life, rounds")
    half_life: int | None = column("Half-life as a number", "count", shown=False)
    restricted_mean: Estimate = column("Restricted mean", "rounds")
    last_round: int | None = column("End, round", "count", shown=False)
    quality_text: Estimate = column("Rounds until quality halves")
    quality_kept: Estimate = column("Rounds of quality, mean", "rounds", shown=False)
    meaning_text: Estimate = column("Rounds until meaning halves")
    meaning_kept: Estimate = column("Rounds of meaning, mean", "rounds", shown=False)
    forward: Estimate = column("Edits carried out", "share")
    refused: float = column("Refused", "share")
    no_image: float = column("No picture", "share", shown=False)
    failed: float = column("Missing", "share")
    cost: float | None = column("Cost a round", "money")
    seconds: float | None = column("Time a round", "seconds")
    cause: str | None = column("Main cause of failure")
    cause_share: float | None = column("Share of that cause", "share", shown=False)
    cases: int = column("Tests", "count")
    sources: int = column("Pictures", "count")
    apart: str | None = column("Listed apart because")


_PAPER = ("editor", "rank", "rounds_kept", "survival", "cost", "cause")  # columns of a table for a paper


def latex(table: Table) -> str:
    """The table of one group of programs for a paper: few columns, a rule before the baselines."""
    return as_latex(table, _PAPER, "role")


def rows(analysis: Analysis) -> list[Row]:
    """Every row of every group."""
    return [
        row
        for name, group in analysis.groups.items()
        for row in group_rows(
            group, analysis.outcomes[name], analysis.comparisons[name].ranks, analysis.options.threshold
        )
    ]


def group_rows(
    group: CaseGroup, outcomes: OutcomesByEditor, ranks: Mapping[str, tuple[int, int] | None], threshold: float
) -> list[Row]:
    """The rows of one group: ranked editors first, then by mean rounds kept; baselines last."""
    rows = [editor_row(editor, group, outcomes[editor], ranks.get(editor), threshold) for editor in group.cases]
    order = list(ROLES.values())
    return sorted(
        rows,
        key=lambda row: (order.index(row.role), row.rank.value or 10**6, -(row.rounds_kept.value or 0), row.editor),
    )


def editor_row(
    editor: str,
    group: CaseGroup,
    outcomes: Sequence[Outcome],
    ranks: tuple[int, int] | None,
    threshold: float,
) -> Row:
    """The row of one editor; `outcomes` are those of its cases, in the same order."""
    cases = group.cases[editor]
    sources = [case.source for case in cases]
    rounds = list(range(1, max(case.rounds for case in cases) + 1))
    summary = summarise(outcomes, rounds, sources, programs=[case.program for case in cases])
    cause, cause_share = _main_cause(outcomes)
    checks = group.checks_of(editor)
    lowest = [lowest_quality(case, checks) for case in cases]
    meaning = [case.retained[MEANINGS[0]] if MEANINGS and MEANINGS[0] in checks else [] for case in cases]
    quality_text, quality_kept = _curve_columns(cases, lowest, rounds, sources, threshold)
    meaning_text, meaning_kept = _curve_columns(cases, meaning, rounds, sources, threshold)
    # A share at an earlier round, if no case was followed to the last one, would not be comparable.
    is_followed = summary["last_round"] == rounds[-1]
    survival, mean_kept = summary["survival"], summary["mean_rounds_kept"]
    return Row(
        editor=editor,
        role=group.role_title(editor),
        group=group.name,
        name=group.headline_name(checks),
        rank=Estimate(ranks[0], *ranks) if ranks else Estimate(),
        half_life_text=estimate(summary["half_life_text"], summary["half_life_interval"]),
        half_life=summary["half_life"],
        rounds_kept=estimate(mean_kept, summary["mean_rounds_kept_interval"]),
        rounds_kept_two_way=estimate(mean_kept, summary["mean_rounds_kept_interval_two_way"]),
        area=_area_under(cases, lowest),
        restricted_mean=estimate(summary["restricted_mean"], summary["restricted_mean_interval"]),
        survival=estimate(survival, summary["survival_interval"]) if is_followed else Estimate(),
        survival_two_way=estimate(survival, summary["survival_interval_two_way"]) if is_followed else Estimate(),
        last_round=summary["last_round"],
        quality_text=quality_text,
        quality_kept=quality_kept,
        meaning_text=meaning_text,
        meaning_kept=meaning_kept,
        forward=_forward_share(cases),
        refused=sum(case.end == "refused" for case in cases) / len(cases),
        no_image=sum(case.end == "no_image" for case in cases) / len(cases),
        failed=sum(is_missing_case(outcome) for outcome in outcomes) / len(cases),
        cost=_known_mean([case.cost for case in cases]),
        seconds=_known_mean([case.seconds for case in cases]),
        cause=cause and f"{cause} ({cause_share:.0%})",
        cause_share=cause_share,
        cases=len(cases),
        sources=len(set(sources)),
        apart="; ".join(group.apart.get(editor, ())) or None,
    )


def _main_cause(outcomes: Sequence[Outcome]) -> tuple[str | None, float | None]:
    """The most frequent cause (ties go to the first in the table of causes) and its share of cases."""
    counts = Counter(outcome.cause for outcome in outcomes if outcome.lost)
    cause = max(CAUSES, key=lambda name: counts[name])
    share = counts[cause] / max(sum(not outcome.failed for outcome in outcomes), 1)
    return (cause, share) if counts else (None, None)


def _curve_columns(
    cases: Sequence[Case],
    curves: Sequence[Sequence[float | None]],
    rounds: Sequence[int],
    sources: Sequence[str],
    threshold: float,
) -> tuple[Estimate, Estimate]:
    """Half-life and mean rounds of one metric, whatever ended convergence; empty if it is not checked."""
    if not any(curves):
        return Estimate(), Estimate()
    outcomes = [outcome_of_curve(case, list(values), threshold) for case, values in zip(cases, curves, strict=True)]
    summary = summarise(count_failures(cases, outcomes), rounds, sources)
    return (
        estimate(summary["half_life_text"], summary["half_life_interval"]),
        estimate(summary["mean_rounds_kept"], summary["mean_rounds_kept_interval"]),
    )


def _area_under(cases: Sequence[Case], curves: Sequence[Sequence[float | None]]) -> Estimate:
    """The mean retained quality over all planned rounds, whatever ended convergence; empty if none is checked.

    A round after the chain's end retains nothing, so that ending early never helps.
    """
    areas, sources = [], []
    for case, values in zip(cases, curves, strict=True):
        last = case.rounds if case.end == "complete" else (case.end_round or 1) - 1
        measured = [value for value in values[:last] if value is not None]
        if measured or (last < case.rounds and any(curves)):
            areas.append((sum(measured) / max(len(measured), 1)) * last / case.rounds)
            sources.append(case.source)
    return estimate(sum(areas) / len(areas), mean_interval(np.array(areas), sources, 1.0)) if areas else Estimate()


def _forward_share(cases: Sequence[Case]) -> Estimate:
    """The share of rounds whose edits were made. Rounds after a refusal count as not made: refusing never helps."""
    shares, sources = [], []
    for case in cases:
        if case.applied is None:
            continue
        made = [value for value in case.applied if value is not None]
        if case.end in ("refused", "no_image", "shrunk") and case.end_round:
            made += [False] * (case.rounds - case.end_round + (case.applied[case.end_round - 1] is None))
        if made:
            shares.append(sum(made) / len(made))
            sources.append(case.source)
    return estimate(sum(shares) / len(shares), mean_interval(np.array(shares), sources, 1.0)) if shares else Estimate()


def _known_mean(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """Rounds kept against what a round costs; only editors whose cost is known."""
    rows = [row for row in rows if row.cost is not None]
    if not rows or not context.is_first_group:
        return []
    figure, grid = new_figure(height=3.4)
    axes = grid[0, 0]
    for row in rows:
        look, (mean, low, high) = context.looks[row.editor], row.rounds_kept
        axes.plot(row.cost, mean, marker=look.marker, color=look.colour, ms=9, ls="", label=row.editor)
        if low is not None:
            axes.plot([row.cost] * 2, [low, high], color=look.colour, lw=1.5)
    axes.set_xlim(0)
    axes.set_ylim(0)
    axes.set_xlabel("US dollars a round")
    axes.set_ylabel("rounds survived, mean")
    add_legend(figure, axes)
    sentences = [
        f"{row.editor} keeps {row.rounds_kept.value:.1f} rounds at {format_value(row.cost, 'money')}" for row in rows
    ]
    return [Drawing("price", "Rounds survived against the cost of a round", "; ".join(sentences) + ".", figure)]
