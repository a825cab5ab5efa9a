"""Two ways to ask for the same thing: rounds kept under one program against rounds kept under its partner."""

from collections.abc import Callable
from typing import NamedTuple

from convergebench.metric_modules.halflife.comparison import Comparison, compare, judge_together

from .analysis import Analysis
from .comparisons import verdict_name
from .groups import CaseGroup, OutcomesByEditor
from .tables import Estimate, estimate

Side = tuple[str, int]  # what the two programs have in common, and on which side this one is: 0 or 1
_SideOf = Callable[[str], Side | None]  # by the id of a program
_CaseKey = tuple[str, str, int]  # source, what the programs have in common, run


class _Paired(NamedTuple):
    """One editor, and how its first side compares with the second."""

    editor: str
    role: str
    first: float  # rounds kept
    second: float
    difference: Estimate
    first_undone: float | None  # the share of rounds whose edits were taken back
    second_undone: float | None
    p_value: float | None
    verdict: str
    cases: int
    sources: int


def compare_sides(analysis: Analysis, names: tuple[str, str], side_of: _SideOf) -> list[_Paired]:
    """Each editor of each group with cases on both sides: the same picture, the same task, the same run."""
    results: list[_Paired] = []
    for name, group in analysis.groups.items():
        pairs = []
        for editor in group.cases:
            sides, undone = _both_sides(group, analysis.outcomes[name], editor, side_of)
            if common := sides[0].keys() & sides[1].keys():
                pairs.append(
                    (editor, compare(names, sides[0], sides[1], {key: key[0] for key in common}), sides, undone)
                )
        judged = judge_together([pair for _, pair, _, _ in pairs])
        results += [
            _paired(editor, group.role_title(editor), pair, sides, undone)
            for (editor, _, sides, undone), pair in zip(pairs, judged, strict=True)
        ]
    return results


def _both_sides(
    group: CaseGroup, outcomes: OutcomesByEditor, editor: str, side_of: _SideOf
) -> tuple[list[dict[_CaseKey, float]], list[list[bool]]]:
    """The rounds kept of each case, and whether its edits were undone, side by side."""
    sides: list[dict[_CaseKey, float]] = [{}, {}]
    undone: list[list[bool]] = [[], []]
    for case, outcome in zip(group.cases[editor], outcomes[editor], strict=True):
        place = side_of(case.program)
        if place is not None and not outcome.failed:
            sides[place[1]][case.source, place[0], case.chain.run] = float(outcome.kept)
            undone[place[1]] += [value for value in case.undone or [] if value is not None]
    return sides, undone


def _paired(
    editor: str, role: str, pair: Comparison, sides: list[dict[_CaseKey, float]], undone: list[list[bool]]
) -> _Paired:
    common = sides[0].keys() & sides[1].keys()
    first, second = (sum(side[key] for key in common) / len(common) for side in sides)
    first_undone, second_undone = (sum(values) / len(values) if values else None for values in undone)
    return _Paired(
        editor,
        role,
        first,
        second,
        estimate(pair.difference, pair.interval),
        first_undone,
        second_undone,
        pair.p_value,
        verdict_name(pair),
        pair.cases,
        pair.sources,
    )
