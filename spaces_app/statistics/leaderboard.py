"""The headline: one row per editor, ranks with ties, baselines listed separately."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.causes import CAUSES
from convergebench.metric_modules.halflife.comparison import Comparison, rank_intervals
from convergebench.metric_modules.halflife.intervals import mean_interval
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import summarise

from ..analysis.analysis import Analysis
from ..analysis.cases import MEANINGS, Case, Values
from ..analysis.comparisons import EDITORS
from ..analysis.groups import (
    ROLES,
    CaseGroup,
    OutcomesByEditor,
    count_failures,
    is_missing_case,
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
    from_summary,
    mean_of,
)
from ..reporting.figures import Drawing, FigureContext, add_legend, new_figure
from ..words import COLUMNS
from . import EACH_GROUP, OnPage

TITLE = "Convergence"
SECTION = EACH_GROUP
_Bounds = tuple[Outcome, Outcome]
ON_PAGE = OnPage(order=10, line_where="role", caption="name")


class Row(TableRow):
    editor: str = column(COLUMNS["editor"][0])
    role: str = column("Role", shown=False)
    group: str = column("Programs", shown=False)
    name: str = column("Headline", shown=False)
    rank: Estimate = column("Rank", "count", always=True)
    rounds_kept: Estimate = column(COLUMNS["rounds_kept"][0], "rounds")
    rounds_kept_two_way: Estimate = column(COLUMNS["rounds_kept_two_way"][0], "rounds")
    area: Estimate = column("Area under retained quality", "share")
    survival: Estimate = column(COLUMNS["survival"][0], "share")
    survival_two_way: Estimate = column("Survived all rounds, any program", "share", shown=False)
    half_life_text: Estimate = column(COLUMNS["half_life_text"][0])
    half_life: int | None = column("Half-life as a number", "count", shown=False)
    restricted_mean: Estimate = column(COLUMNS["restricted_mean"][0], "rounds")
    last_round: int | None = column("End, round", "count", shown=False)
    quality_text: Estimate = column(COLUMNS["quality_text"][0])
    quality_kept: Estimate = column("Rounds of quality, mean", "rounds", shown=False)
    meaning_text: Estimate = column(COLUMNS["meaning_text"][0])
    meaning_kept: Estimate = column("Rounds of meaning, mean", "rounds", shown=False)
    undecided: float | None = column(COLUMNS["undecided"][0], "share")
    kept_if_kept: float | None = column(COLUMNS["kept_if_kept"][0], "rounds")
    kept_if_lost: float | None = column(COLUMNS["kept_if_lost"][0], "rounds")
    place_if_kept: int | None = column(COLUMNS["place_if_kept"][0], "count")
    place_if_lost: int | None = column(COLUMNS["place_if_lost"][0], "count")
    as_asked: float | None = column(COLUMNS["as_asked"][0], "share")
    not_as_asked: float | None = column(COLUMNS["not_as_asked"][0], "share")
    forward: Estimate = column(COLUMNS["forward"][0], "share")
    refused: float = column(COLUMNS["refused"][0], "share")
    no_image: float = column("No picture", "share", shown=False)
    failed: float = column(COLUMNS["failed"][0], "share")
    cost: float | None = column(COLUMNS["cost"][0], "money")
    seconds: float | None = column(COLUMNS["seconds"][0], "seconds")
    cause: str | None = column(COLUMNS["cause"][0])
    cause_share: float | None = column("Share of that cause", "share", shown=False)
    cases: int = column(COLUMNS["cases"][0], "count")
    sources: int = column(COLUMNS["sources"][0], "count")
    apart: str | None = column(COLUMNS["apart"][0])


_PAPER = ("editor", "rank", "rounds_kept", "survival", "cost", "cause")  # of a table for a paper


def latex(table: Table) -> str:
    return as_latex(table, _PAPER, "role")


def rows(analysis: Analysis) -> list[Row]:
    rows: list[Row] = []
    for name, group in analysis.groups.items():
        compared = analysis.comparisons[name]
        rows += group_rows(group, analysis.outcomes[name], compared, analysis.threshold, analysis.bounds)
    return rows


def group_rows(
    group: CaseGroup,
    outcomes: OutcomesByEditor,
    compared: Mapping[str, Sequence[Comparison]],
    threshold: float,
    bounds: Mapping[str, _Bounds],
) -> list[Row]:
    """`bounds` has the outcomes of chains with all undecided rounds kept, and with all of them lost."""
    roles = list(ROLES.values())
    tested = [editor for editor, role in group.roles.items() if role == ROLES["editor"]]
    ranks = rank_intervals(tested, compared[EDITORS])
    rows = [_row(editor, group, outcomes[editor], ranks.get(editor), threshold, bounds) for editor in group.cases]
    ranked = [row for row in rows if row.rank.value is not None and bounds]
    if_kept, if_lost = ([getattr(row, f"kept_if_{end}") or 0.0 for row in ranked] for end in ("kept", "lost"))
    # Places are by the mean alone: they show how much of the order rests on undecided rounds.
    for row, kept, lost in zip(ranked, if_kept, if_lost, strict=True):
        places = [
            1 + sum(mean > mean_kept for mean in means) for mean_kept, means in ((kept, if_kept), (lost, if_lost))
        ]
        rows[rows.index(row)] = replace(row, place_if_kept=places[0], place_if_lost=places[1])
    return sorted(
        rows,
        key=lambda row: (
            roles.index(row.role),
            row.rank.value or 10**6,
            -(row.rounds_kept.value or 0),
            row.editor,
        ),
    )


def _row(
    editor: str,
    group: CaseGroup,
    outcomes: Sequence[Outcome],
    ranks: tuple[int, int] | None,
    threshold: float,
    bounds: Mapping[str, _Bounds],
) -> Row:
    cases, checks = group.cases[editor], group.checks_of(editor)
    sources = [case.source for case in cases]
    rounds = list(range(1, max(case.rounds for case in cases) + 1))
    summary = summarise(outcomes, rounds, sources, programs=[case.program for case in cases])
    cause, cause_share = _main_cause(outcomes)
    pairs = [bounds[case.chain.id] for case in cases] if bounds else []
    lowest = [case.quality(checks) for case in cases]
    meanings = [case.judged(MEANINGS[0]) if MEANINGS and MEANINGS[0] in checks else [] for case in cases]
    quality, meaning = (_curve_summary(cases, curves, rounds, threshold) for curves in (lowest, meanings))
    ends = Counter(case.end for case in cases)
    return Row(
        editor=editor,
        role=group.roles[editor],
        group=group.name,
        name=group.headline_name(checks),
        rank=Estimate(ranks[0], *ranks) if ranks else Estimate(),
        **_survival_columns(summary, rounds[-1]),
        area=_area_under(cases, lowest),
        undecided=mean_of(if_kept.kept != if_lost.kept for if_kept, if_lost in pairs),
        kept_if_kept=mean_of(if_kept.rounds_kept for if_kept, _ in pairs),
        kept_if_lost=mean_of(if_lost.rounds_kept for _, if_lost in pairs),
        place_if_kept=None,
        place_if_lost=None,
        quality_text=from_summary(quality, "half_life_text"),
        quality_kept=from_summary(quality, "mean_rounds_kept"),
        meaning_text=from_summary(meaning, "half_life_text"),
        meaning_kept=from_summary(meaning, "mean_rounds_kept"),
        forward=_forward_share(cases),
        as_asked=_asked_share(cases, True),
        not_as_asked=_asked_share(cases, False),
        refused=ends["refused"] / len(cases),
        no_image=ends["no_image"] / len(cases),
        failed=sum(map(is_missing_case, outcomes)) / len(cases),
        cost=mean_of(case.cost for case in cases),
        seconds=mean_of(case.seconds for case in cases),
        cause=cause,
        cause_share=cause_share,
        cases=len(cases),
        sources=len(set(sources)),
        apart="; ".join(group.apart.get(editor, ())) or None,
    )


def _survival_columns(summary: dict[str, Any], last: int) -> dict[str, Any]:
    # A share at an earlier round would not be comparable.
    of_all = summary if summary["last_round"] == last else {}
    return {
        "half_life_text": from_summary(summary, "half_life_text"),
        "half_life": summary["half_life"],
        "rounds_kept": from_summary(summary, "mean_rounds_kept"),
        "rounds_kept_two_way": from_summary(summary, "mean_rounds_kept", "interval_two_way"),
        "restricted_mean": from_summary(summary, "restricted_mean"),
        "survival": from_summary(of_all, "survival"),
        "survival_two_way": from_summary(of_all, "survival", "interval_two_way"),
        "last_round": summary["last_round"],
    }


def _main_cause(outcomes: Sequence[Outcome]) -> tuple[str | None, float | None]:
    counts = Counter(outcome.cause for outcome in outcomes if outcome.lost)
    cause = max(CAUSES, key=lambda name: counts[name])
    count = counts[cause]
    return (f"{cause} ({count} of {len(outcomes)})", count / len(outcomes)) if count else (None, None)


def _curve_summary(
    cases: Sequence[Case], curves: Sequence[Values], rounds: Sequence[int], threshold: float
) -> dict[str, Any]:
    if not any(curves):
        return {}
    outcomes = [outcome_of_curve(case, values, threshold) for case, values in zip(cases, curves, strict=True)]
    return summarise(count_failures(cases, outcomes), rounds, [case.source for case in cases])


def _area_under(cases: Sequence[Case], curves: Sequence[Values]) -> Estimate:
    """A round after the end retains nothing, nor does one without its edit: doing nothing never helps."""
    areas, sources = [], []
    for case, values in zip(cases, curves, strict=True):
        last = case.rounds if case.end == "complete" else (case.end_round or 1) - 1
        edits = list(
            zip(case.changed or [None] * len(values), case.as_asked or [None] * len(values), strict=True)
        )
        made = [0.0 if False in edits[place] and value else value for place, value in enumerate(values)]
        measured = [value for value in made[:last] if value is not None]
        if measured or (last < case.rounds and any(curves)):
            areas.append((sum(measured) / max(len(measured), 1)) * last / case.rounds)
            sources.append(case.source)
    return _mean_of_shares(areas, sources)


def _forward_share(cases: Sequence[Case]) -> Estimate:
    """Rounds after a refusal count as without a change: refusing never helps."""
    shares, sources = [], []
    for case in cases:
        changed = case.changed or ()
        made = [value for value in changed if value is not None]
        if changed and case.end in ("refused", "no_image", "shrunk") and case.end_round:
            made += [False] * (case.rounds - case.end_round + (changed[case.end_round - 1] is None))
        if made:
            shares.append(sum(made) / len(made))
            sources.append(case.source)
    return _mean_of_shares(shares, sources)


def _asked_share(cases: Sequence[Case], answer: bool) -> float | None:
    """The share of scored rounds whose edit was, or was not, as asked; in the rest the words were not checked."""
    return mean_of(
        asked is answer
        for case in cases
        for asked, changed in zip(case.as_asked or (), case.changed or (), strict=False)
        if changed is not None
    )


def _mean_of_shares(shares: Sequence[float], sources: Sequence[str]) -> Estimate:
    return estimate(mean_of(shares), mean_interval(np.array(shares), sources, 1.0) if shares else None)


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """Only editors whose cost is known."""
    rows = [row for row in rows if row.cost is not None and row.rounds_kept.value is not None]
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
        f"{row.editor} survives {row.rounds_kept.value:.1f} rounds at {format_value(row.cost, 'money')}"
        for row in rows
    ]
    return [Drawing("price", "Rounds survived against the cost of a round", "; ".join(sentences) + ".", figure)]
