"""One pair of editors in full: what their common cases say, and the sources on which they differ most."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from ..analysis.analysis import Analysis
from ..analysis.comparisons import CaseOutcomes, compare_editors, outcomes_by_case
from ..analysis.groups import CaseGroup, group_cases
from ..analysis.tables import Table, TableRow, as_text, column
from ..statistics import leaderboard, make_table, pairs

_SHOWN = 5
_HEADLINE = (
    "editor",
    "half_life_text",
    "rounds_kept",
    "survival",
    "quality_text",
    "forward",
    "refused",
    "failed",
    "cause",
    "cases",
)


class _Difference(TableRow):
    source: str = column("Source")
    cases: int = column("Cases", "count")
    first: float = column("Rounds kept, first", "rounds")
    second: float = column("Rounds kept, second", "rounds")
    difference: float = column("Difference", "change")


@dataclass(frozen=True)
class _PairReport:
    """The comparison as text to print, and as values."""

    text: str
    values: list[dict[str, Any]]


def compare_pair(analysis: Analysis, first: str, second: str) -> _PairReport:
    """The pair in each group of programs that both have; only what both have is checked."""
    names = sorted({case.editor for case in analysis.cases})
    for name in (first, second):
        if name not in names:
            raise ValueError(f"no scores of an editor {name!r}; there are {', '.join(names)}")
    if first == second:
        raise ValueError(f"{first!r} was given twice; a comparison needs two editors")
    groups = group_cases(
        [case for case in analysis.cases if case.editor in (first, second)],
        analysis.excluded,
        None,
        analysis.roles,
        True,
    )
    reports = [
        _compare_in_group(group, first, second, analysis.options.threshold)
        for group in groups.values()
        if len(group.cases) > 1
    ]
    if not reports:
        raise ValueError(f"{first!r} and {second!r} have no group of programs in common")
    return _PairReport("\n\n".join(text for text, _ in reports), [values for _, values in reports])


def _compare_in_group(group: CaseGroup, first: str, second: str, threshold: float) -> tuple[str, dict[str, Any]]:
    """The sentence, the numbers behind it, both headlines, and the sources on which they differ most."""
    outcomes = outcomes_by_case(group, threshold)
    [pair] = pairs.pair_rows(group.name, outcomes, compare_editors(outcomes, [first, second]), "this pair")
    board = [
        leaderboard.editor_row(editor, group, [outcome for outcome, _ in outcomes[editor].values()], None, threshold)
        for editor in (first, second)
    ]
    differences = _difference_by_source(outcomes, first, second)
    cells = [row.cells for row in differences]
    table = Table("differences", "Largest differences by source", _Difference.columns(differences), cells)
    causes = Counter(
        (outcomes[first][key][0].cause, outcomes[second][key][0].cause)
        for key in outcomes[first].keys() & outcomes[second].keys()
    )
    parts = [
        f"{group.name}: {group.headline}",
        f"{pair.sentence}.",
        as_text(
            make_table(pairs, [pair]),
            ["difference", "cases", "left_out", "sources", "p_value", "verdict", "log_rank_p"],
        ),
        as_text(make_table(leaderboard, board), _HEADLINE),
        f"largest differences by source, {first} first",
        as_text(table),
    ]
    lost_to = [
        f"causes of loss, {first} / {second}",
        *(f"  {count:4} {a or 'nothing'} / {b or 'nothing'}" for (a, b), count in causes.most_common(_SHOWN)),
    ]
    values = {"pair": pair.cells, "leaderboard": [row.cells for row in board], "sources": cells}
    return "\n\n".join(parts) + "\n\n" + "\n".join(lost_to), values


def _difference_by_source(outcomes: CaseOutcomes, first: str, second: str) -> list[_Difference]:
    """The sources with the largest difference between the two."""
    kept_by_source: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for key in outcomes[first].keys() & outcomes[second].keys():
        a, b = outcomes[first][key][0], outcomes[second][key][0]
        if not (a.failed or b.failed):
            kept_by_source[key[0]].append((a.kept, b.kept))
    rows = []
    for source, kept in kept_by_source.items():
        first_mean, second_mean = (sum(side) / len(kept) for side in zip(*kept, strict=True))
        rows.append(
            _Difference(
                source=source,
                cases=len(kept),
                first=first_mean,
                second=second_mean,
                difference=first_mean - second_mean,
            )
        )
    return sorted(rows, key=lambda row: (-abs(row.difference), row.source))[:_SHOWN]
