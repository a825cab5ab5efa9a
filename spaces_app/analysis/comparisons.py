"""Compares every two editors on their common cases, and ranks them."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any

from convergebench.metric_modules.halflife.comparison import Comparison, compare, judge_alone, judge_together
from convergebench.metric_modules.halflife.outcomes import Outcome

from .cases import CaseKey
from .groups import ROLES, CaseGroup, OutcomesByEditor
from .tables import estimate

# By editor: each case's outcome and planned rounds.
CaseOutcomes = Mapping[str, Mapping[CaseKey, tuple[Outcome, int]]]
EDITORS, REFERENCES = "editors", "no other pair"  # what the p of a pair is corrected with


def outcomes_by_case(group: CaseGroup, outcomes: OutcomesByEditor) -> CaseOutcomes:
    return {
        editor: {case.key: (outcome, case.rounds) for case, outcome in zip(cases, outcomes[editor], strict=True)}
        for editor, cases in group.cases.items()
    }


def compare_group(group: CaseGroup, outcomes: OutcomesByEditor) -> dict[str, list[Comparison]]:
    """Every two editors under test, corrected together, and each of them with every other row, by its own p."""
    by_case = outcomes_by_case(group, outcomes)
    mean_kept = {editor: sum(outcome.kept for outcome in kept) / len(kept) for editor, kept in outcomes.items()}
    longest_first = sorted(group.cases, key=lambda editor: -mean_kept[editor])
    editors = [editor for editor in longest_first if group.roles[editor] == ROLES["editor"]]
    # An editor with fewer checks cannot be compared with the others.
    unranked = [editor for editor in longest_first if editor not in editors and not group.lacking[editor]]
    against = judge_alone([compare_two(by_case, a, b) for a in editors for b in unranked])
    return {EDITORS: compare_editors(by_case, editors), REFERENCES: against}


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


def pair_columns(pair: Comparison) -> dict[str, Any]:
    """The columns that tables of pairs share."""
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": estimate(pair.difference, pair.interval),
        "cases": pair.cases,
        "left_out": pair.left_out,
        "sources": pair.sources,
        "p_value": pair.p_value,
        "p_corrected": pair.p_corrected,
        "verdict": verdict_name(pair),
    }
