"""Two ways to ask for the same: rounds kept under one program against rounds kept under its partner."""

from collections.abc import Callable
from typing import Any

from convergebench.metric_modules.halflife.comparison import Comparison, compare, judge_together

from .analysis import Analysis
from .cases import Case
from .groups import CaseGroup, OutcomesByEditor

Side = tuple[str, int]  # what the two programs have in common, and on which side this one is: 0 or 1
SideOf = Callable[[str], Side | None]  # by the id of a program


def compare_sides(analysis: Analysis, names: tuple[str, str], side_of: SideOf) -> list[dict[str, Any]]:
    """A row for each group and editor with cases on both sides: the same picture, the same task, the same run."""
    found: list[dict[str, Any]] = []
    for group_name, group in analysis.groups.items():
        pairs = []
        for editor in group.cases:
            sides, undone = both_sides(group, analysis.outcomes[group_name], editor, side_of)
            common = sides[0].keys() & sides[1].keys()
            if not common:
                continue
            pair = compare(names, sides[0], sides[1], {key: key[0] for key in common})
            pairs.append((editor, pair, sides, undone))
        judged = judge_together([pair for _, pair, _, _ in pairs])
        for (editor, _, sides, undone), pair in zip(pairs, judged, strict=True):
            found.append({"editor": editor, "role": group.role_title(editor), **pair_columns(pair, sides, undone)})
    return found


def both_sides(
    group: CaseGroup, outcomes: OutcomesByEditor, editor: str, side_of: SideOf
) -> tuple[list[dict[Any, float]], list[list[bool]]]:
    """The rounds kept of each case, and whether its edits were undone, side by side."""
    kept: list[dict[Any, float]] = [{}, {}]
    undone: list[list[bool]] = [[], []]
    for case, outcome in zip(group.cases[editor], outcomes[editor], strict=True):
        place = side_of(case.program)
        if place is not None and not outcome.failed:
            kept[place[1]][case.source, place[0], case.chain.run] = float(outcome.kept)
            undone[place[1]] += undone_rounds(case)
    return kept, undone


def undone_rounds(case: Case) -> list[bool]:
    return [value for value in case.undone or [] if value is not None]


def pair_columns(pair: Comparison, sides: list[dict[Any, float]], undone: list[list[bool]]) -> dict[str, Any]:
    low, high = pair.interval or (None, None)
    common = sides[0].keys() & sides[1].keys()
    first, second = (sum(side[key] for key in common) / len(common) for side in sides)
    shares = [sum(own) / len(own) if own else None for own in undone]
    better = {"first": pair.first, "second": pair.second}.get(pair.verdict, pair.verdict)
    return {
        "first": first,
        "second": second,
        "difference": pair.difference,
        "difference_low": low,
        "difference_high": high,
        "first_undone": shares[0],
        "second_undone": shares[1],
        "p_value": pair.p_value,
        "verdict": better,
        "cases": pair.cases,
        "sources": pair.sources,
    }
