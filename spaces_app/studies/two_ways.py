"""Two ways to ask for the same thing: a program against its partner."""

from collections.abc import Callable
from typing import TypeVar

from convergebench.metric_modules.halflife.comparison import compare, judge_together

from ..analysis.analysis import Analysis
from ..analysis.comparisons import verdict_name
from ..analysis.groups import CaseGroup
from ..analysis.tables import TableRow, estimate, mean_of

Side = tuple[str, int]  # what the programs have in common, and 0 or 1
_SideOf = Callable[[str], Side | None]  # by the id of a program
_Kept = dict[tuple[str, str, int], float]  # by source, what is common, and run
R = TypeVar("R", bound=TableRow)


def compare_sides(
    analysis: Analysis, make_row: Callable[..., R], names: tuple[str, str], side_of: _SideOf, **columns: str
) -> list[R]:
    rows = []
    for group in analysis.groups.values():
        sides = {editor: _both_sides(analysis, group, editor, side_of) for editor in group.cases}
        common = {editor: first.keys() & second.keys() for editor, ((first, second), _) in sides.items()}
        editors = [editor for editor, keys in common.items() if keys]
        pairs = [compare(names, *sides[editor][0], {key: key[0] for key in common[editor]}) for editor in editors]
        for editor, pair in zip(editors, judge_together(pairs), strict=True):
            kept, undone = sides[editor]
            first, second = (sum(side[key] for key in common[editor]) / len(common[editor]) for side in kept)
            rows.append(
                make_row(
                    **columns,
                    editor=editor,
                    role=group.roles[editor],
                    first=first,
                    second=second,
                    difference=estimate(pair.difference, pair.interval),
                    first_undone=mean_of(undone[0]),
                    second_undone=mean_of(undone[1]),
                    p_value=pair.p_value,
                    verdict=verdict_name(pair),
                    cases=pair.cases,
                    sources=pair.sources,
                )
            )
    return rows


def _both_sides(
    analysis: Analysis, group: CaseGroup, editor: str, side_of: _SideOf
) -> tuple[tuple[_Kept, _Kept], tuple[list[bool], list[bool]]]:
    kept: tuple[_Kept, _Kept] = ({}, {})
    undone: tuple[list[bool], list[bool]] = ([], [])
    for case, outcome in analysis.with_outcomes(group, editor):
        if (place := side_of(case.program)) and not outcome.failed:
            common, side = place
            kept[side][case.source, common, case.chain.run] = float(outcome.kept)
            undone[side].extend(value for value in case.undone or [] if value is not None)
    return kept, undone
