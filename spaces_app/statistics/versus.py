"""One pair of editors in full: what their common cases say, case by case where they differ most."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..study.cases import read_cases
from ..study.comparisons import compare_editors, outcomes_by_case
from ..study.floors import Floors
from ..study.groups import CaseGroup, group_cases
from ..study.tables import Column, Table, as_text
from . import leaderboard, pairs
from .report import Options

Row = Mapping[str, Any]
SHOWN = 5
ROW = ("editor", "half_life_text", "rounds_kept", "survival", "quality_text", "forward", "refused", "cause", "cases")
DIFFERENCES = (
    Column("source", "Source"),
    Column("cases", "Cases", "count"),
    Column("first", "Rounds kept", "rounds"),
    Column("second", "by the other", "rounds"),
    Column("difference", "More", "change"),
)


@dataclass(frozen=True)
class Versus:
    """What to print, and the same as values."""

    text: str
    values: list[dict[str, Any]]


def versus(
    scores: Sequence[Row],
    chains: Sequence[Row],
    floors: Sequence[Row],
    first: str,
    second: str,
    options: Options = Options(),  # noqa: B008 - frozen
) -> Versus:
    """The pair in each group of programs that both have; only what both have is checked."""
    zeros = Floors(floors, chains)
    cases, _ = read_cases(scores, chains, zeros)
    names = sorted({case.editor for case in cases})
    for name in (first, second):
        if name not in names:
            raise ValueError(f"no scores of an editor {name!r}; there are {', '.join(names)}")
    if first == second:
        raise ValueError(f"{first!r} was given twice; a comparison needs two editors")
    groups = group_cases([case for case in cases if case.editor in (first, second)], zeros.excluded(chains))
    told = [of_group(group, first, second, options) for group in groups.values() if len(group.cases) > 1]
    if not told:
        raise ValueError(f"{first!r} and {second!r} have no group of programs in common")
    return Versus("\n\n".join(text for text, _ in told), [values for _, values in told])


def of_group(group: CaseGroup, first: str, second: str, options: Options) -> tuple[str, dict[str, Any]]:
    """The sentence, the numbers behind it, both headlines, and the sources where they differ most."""
    keyed = outcomes_by_case(group, options.threshold)
    [made] = pairs.pair_rows(group.name, keyed, compare_editors(keyed, [first, second]), "this pair")
    board = [
        leaderboard.row(editor, group, [outcome for outcome, _ in keyed[editor].values()], None, options.threshold)
        for editor in (first, second)
    ]
    table = by_source(keyed, first, second)
    causes = Counter(
        (keyed[first][key][0].cause, keyed[second][key][0].cause) for key in keyed[first].keys() & keyed[second].keys()
    )
    lines = [
        f"{group.name}: {group.headline}",
        f"{made['sentence']}.",
        as_text(
            pairs.table([made]), ["difference", "cases", "left_out", "sources", "p_value", "verdict", "log_rank_p"]
        ),
        as_text(leaderboard.table(board), ROW),
        f"where they differ most, {first} first",
        as_text(table),
        "lost to, " + first + " and " + second,
        *(f"  {count:4} {a or 'nothing'} / {b or 'nothing'}" for (a, b), count in causes.most_common(SHOWN)),
    ]
    return "\n\n".join(lines[:6]) + "\n\n" + "\n".join(lines[6:]), {
        "pair": made,
        "leaderboard": board,
        "sources": list(table.rows),
    }


def by_source(keyed: Mapping[str, Mapping[Any, Any]], first: str, second: str) -> Table:
    """The sources with the largest difference between the two."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for key in keyed[first].keys() & keyed[second].keys():
        a, b = keyed[first][key][0], keyed[second][key][0]
        if not (a.failed or b.failed):
            found[key[0]].append((a.kept, b.kept))
    rows = []
    for source, both in found.items():
        one, other = (sum(each) / len(both) for each in zip(*both, strict=True))
        rows.append({"source": source, "cases": len(both), "first": one, "second": other, "difference": one - other})
    rows.sort(key=lambda row: (-abs(row["difference"]), row["source"]))
    return Table("differences", "Where they differ most", DIFFERENCES, rows[:SHOWN])
