"""One pair of editors in full: what their common cases say, case by case where they differ most."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..analysis.analysis import Analysis
from ..analysis.comparisons import compare_editors, outcomes_by_case
from ..analysis.groups import CaseGroup, group_cases
from ..analysis.tables import Column, Table, as_text
from ..statistics import leaderboard, make_table, pairs

SHOWN = 5
HEADLINE = (
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
DIFFERENCES = (
    Column("source", "Source"),
    Column("cases", "Cases", "count"),
    Column("first", "Rounds kept", "rounds"),
    Column("second", "by the other", "rounds"),
    Column("difference", "More", "change"),
)


@dataclass(frozen=True)
class PairReport:
    """What to print, and the same as values."""

    text: str
    values: list[dict[str, Any]]


def compare_pair(analysis: Analysis, first: str, second: str) -> PairReport:
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
        compare_in_group(group, first, second, analysis.options.threshold)
        for group in groups.values()
        if len(group.cases) > 1
    ]
    if not reports:
        raise ValueError(f"{first!r} and {second!r} have no group of programs in common")
    return PairReport("\n\n".join(text for text, _ in reports), [values for _, values in reports])


def compare_in_group(group: CaseGroup, first: str, second: str, threshold: float) -> tuple[str, dict[str, Any]]:
    """The sentence, the numbers behind it, both headlines, and the sources where they differ most."""
    outcomes = outcomes_by_case(group, threshold)
    [pair] = pairs.pair_rows(group.name, outcomes, compare_editors(outcomes, [first, second]), "this pair")
    board = [
        leaderboard.editor_row(editor, group, [each for each, _ in outcomes[editor].values()], None, threshold)
        for editor in (first, second)
    ]
    table = difference_by_source(outcomes, first, second)
    causes = Counter(
        (outcomes[first][key][0].cause, outcomes[second][key][0].cause)
        for key in outcomes[first].keys() & outcomes[second].keys()
    )
    lines = [
        f"{group.name}: {group.headline}",
        f"{pair['sentence']}.",
        as_text(
            make_table(pairs, [pair]),
            ["difference", "cases", "left_out", "sources", "p_value", "verdict", "log_rank_p"],
        ),
        as_text(make_table(leaderboard, board), HEADLINE),
        f"where they differ most, {first} first",
        as_text(table),
        "lost to, " + first + " and " + second,
        *(f"  {count:4} {a or 'nothing'} / {b or 'nothing'}" for (a, b), count in causes.most_common(SHOWN)),
    ]
    return "\n\n".join(lines[:6]) + "\n\n" + "\n".join(lines[6:]), {
        "pair": pair,
        "leaderboard": board,
        "sources": list(table.rows),
    }


def difference_by_source(outcomes: Mapping[str, Mapping[Any, Any]], first: str, second: str) -> Table:
    """The sources with the largest difference between the two."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for key in outcomes[first].keys() & outcomes[second].keys():
        a, b = outcomes[first][key][0], outcomes[second][key][0]
        if not (a.failed or b.failed):
            found[key[0]].append((a.kept, b.kept))
    rows = []
    for source, both in found.items():
        one, other = (sum(each) / len(both) for each in zip(*both, strict=True))
        rows.append({"source": source, "cases": len(both), "first": one, "second": other, "difference": one - other})
    rows.sort(key=lambda row: (-abs(row["difference"]), row["source"]))
    return Table("differences", "Where they differ most", DIFFERENCES, rows[:SHOWN])
