"""Compares every two editors on their common cases, and ranks them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from convergebench.metric_modules.halflife.comparison import (
    Comparison,
    compare,
    judge_alone,
    judge_together,
    rank_intervals,
)
from convergebench.metric_modules.halflife.outcomes import Outcome

from .cases import CaseKey
from .groups import ROLES, CaseGroup, OutcomesByEditor

# By editor: each case's outcome and planned rounds.
CaseOutcomes = Mapping[str, Mapping[CaseKey, tuple[Outcome, int]]]


@dataclass(frozen=True)
class GroupComparison:
    outcomes: CaseOutcomes
    editors: list[Comparison]  # every two editors under test, corrected together
    references: list[Comparison]  # with every other row, each by its own p
    ranks: dict[str, tuple[int, int] | None]  # best and worst


def compare_group(group: CaseGroup, outcomes: OutcomesByEditor) -> GroupComparison:
    by_case = {
        editor: {case.key: (outcome, case.rounds) for case, outcome in zip(cases, outcomes[editor], strict=True)}
        for editor, cases in group.cases.items()
    }
    mean_kept = {editor: sum(outcome.kept for outcome in kept) / len(kept) for editor, kept in outcomes.items()}
    longest_first = sorted(group.cases, key=lambda editor: -mean_kept[editor])
    editors = [editor for editor in longest_first if group.roles[editor] == ROLES["editor"]]
    # An editor with fewer checks cannot be compared with the others.
    unranked = [editor for editor in longest_first if editor not in editors and not group.lacking[editor]]
    among = compare_editors(by_case, editors)
    against = judge_alone([compare_two(by_case, a, b) for a in editors for b in unranked])
    return GroupComparison(by_case, among, against, rank_intervals(editors, among))


def compare_editors(outcomes: CaseOutcomes, editors: Sequence[str]) -> list[Comparison]:
    return judge_together([compare_two(outcomes, a, b) for a, b in combinations(editors, 2)])


def compare_two(outcomes: CaseOutcomes, first: str, second: str) -> Comparison:
    """Before any verdict; the shorter plan counts for both."""
    common = outcomes[first].keys() & outcomes[second].keys()
    horizons = {key: min(outcomes[first][key][1], outcomes[second][key][1]) for key in common}
    sides: list[dict[Hashable, float | None]] = [
        {key: _rounds_kept(outcome, horizons.get(key)) for key, (outcome, _) in outcomes[editor].items()}
        for editor in (first, second)
    ]
    sources: dict[Hashable, Hashable] = {key: key[0] for key in common}
    return compare((first, second), sides[0], sides[1], sources, max(horizons.values(), default=None))


def _rounds_kept(outcome: Outcome, horizon: int | None) -> int | None:
    """None if a technical failure left the case open."""
    if horizon is None:
        return None
    return horizon if outcome.kept >= horizon else outcome.rounds_kept


def verdict_name(pair: Comparison) -> str:
    """The editor that keeps more, 'open', or 'indicative': too few sources."""
    return {"first": pair.first, "second": pair.second}.get(pair.verdict, pair.verdict)
