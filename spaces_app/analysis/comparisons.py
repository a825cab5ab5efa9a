"""Compares every two editors on their common cases, and an editor with itself when it is asked in two ways."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

from convergebench.metric_modules.halflife.comparison import (
    Comparison,
    compare,
    judge_alone,
    judge_together,
    rank_intervals,
)
from convergebench.metric_modules.halflife.outcomes import Outcome

from .cases import CaseKey
from .groups import CaseGroup, OutcomesByEditor
from .tables import TableRow, estimate

if TYPE_CHECKING:
    from .analysis import Analysis

# By editor: each case's outcome and planned rounds.
CaseOutcomes = Mapping[str, Mapping[CaseKey, tuple[Outcome, int]]]
Side = tuple[str, int]  # what the programs have in common, and 0 or 1
_SideOf = Callable[[str], Side | None]  # by the id of a program
_Kept = dict[tuple[str, str, int], float]  # by source, what is common, and run
R = TypeVar("R", bound=TableRow)


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
    editors = [editor for editor in longest_first if group.roles[editor] == "editor"]
    # An editor with fewer checks cannot be compared with the others.
    unranked = [editor for editor in longest_first if editor not in editors and not group.lacking[editor]]
    among = compare_editors(by_case, editors)
    against = judge_alone([compare_two(by_case, a, b) for a in editors for b in unranked])
    return GroupComparison(by_case, among, against, rank_intervals(editors, among))


def compare_editors(outcomes: CaseOutcomes, editors: Sequence[str]) -> list[Comparison]:
    """Each pair of editors, corrected together."""
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
    cells: dict[Hashable, Hashable] = {key: key[:2] for key in common}
    return compare((first, second), sides[0], sides[1], sources, cells)


def _rounds_kept(outcome: Outcome, horizon: int | None) -> int | None:
    """None if a technical failure left the case open."""
    if horizon is None:
        return None
    return horizon if outcome.kept >= horizon else outcome.rounds_kept


def verdict_name(pair: Comparison) -> str:
    """The editor that keeps more, 'open', or 'indicative': too few sources."""
    return {"first": pair.first, "second": pair.second}.get(pair.verdict, pair.verdict)


def compare_sides(
    analysis: "Analysis", make_row: Callable[..., R], names: tuple[str, str], side_of: _SideOf, **columns: str
) -> list[R]:
    """A row for each editor with cases on both sides: same picture, task and run."""
    rows = []
    for name, group in analysis.groups.items():
        sides = {editor: _both_sides(group, analysis.outcomes[name], editor, side_of) for editor in group.cases}
        common = {editor: first.keys() & second.keys() for editor, ((first, second), _) in sides.items()}
        editors = [editor for editor, keys in common.items() if keys]
        pairs = [compare(names, *sides[editor][0], {key: key[0] for key in common[editor]}) for editor in editors]
        for editor, pair in zip(editors, judge_together(pairs), strict=True):
            kept, undone = sides[editor]
            first, second = (sum(side[key] for key in common[editor]) / len(common[editor]) for side in kept)
            first_undone, second_undone = (sum(values) / len(values) if values else None for values in undone)
            rows.append(
                make_row(
                    **columns,
                    editor=editor,
                    role=group.role_title(editor),
                    first=first,
                    second=second,
                    difference=estimate(pair.difference, pair.interval),
                    first_undone=first_undone,
                    second_undone=second_undone,
                    p_value=pair.p_value,
                    verdict=verdict_name(pair),
                    cases=pair.cases,
                    sources=pair.sources,
                )
            )
    return rows


def _both_sides(
    group: CaseGroup, outcomes: OutcomesByEditor, editor: str, side_of: _SideOf
) -> tuple[tuple[_Kept, _Kept], tuple[list[bool], list[bool]]]:
    kept: tuple[_Kept, _Kept] = ({}, {})
    undone: tuple[list[bool], list[bool]] = ([], [])
    for case, outcome in zip(group.cases[editor], outcomes[editor], strict=True):
        place = side_of(case.program)
        if place is not None and not outcome.failed:
            kept[place[1]][case.source, place[0], case.chain.run] = float(outcome.kept)
            undone[place[1]].extend(value for value in case.undone or [] if value is not None)
    return kept, undone
