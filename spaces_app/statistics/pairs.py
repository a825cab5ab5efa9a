"""Every two editors on their own common cases: who keeps more rounds, and is that more than luck?"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from convergebench.metric_modules.halflife.comparison import LEVEL, Comparison, compare, holm, verdict
from convergebench.metric_modules.halflife.fates import Fate
from convergebench.metric_modules.halflife.survival import log_rank

from .fates import Field, Key, converged, kept
from .table import Column, Table

Kept = Mapping[str, Mapping[Key, tuple[Fate, int]]]  # by editor: each case's fate and its planned rounds

COLUMNS = (
    Column("group", "Programs", shown=False),
    Column("family", "Corrected with", shown=False),
    Column("first", "Editor"),
    Column("second", "Against"),
    Column("difference", "Rounds kept more", "change", interval=True),
    Column("cases", "Common cases", "count"),
    Column("left_out", "Left out", "count"),
    Column("sources", "Sources", "count"),
    Column("p_value", "p", "p"),
    Column("p_holm", "p (Holm)", "p"),
    Column("verdict", "Verdict"),
    Column("log_rank", "Log-rank χ²", "number", shown=False),
    Column("log_rank_p", "Log-rank p", "p", shown=False),
    Column("sentence", "In words", shown=False),
)


def fates_by_case(field: Field, threshold: float = 0.5, horizon: int | None = None) -> dict[str, dict]:
    """Every editor's cases with their fates and how many rounds they were planned for."""
    return {
        editor: {
            case.key: (converged(case, field.checks, threshold, horizon), min(case.rounds, horizon or case.rounds))
            for case in cases
        }
        for editor, cases in field.cases.items()
    }


def compared(fates: Kept, editors: Sequence[str], others: Sequence[str] = ()) -> list[Comparison]:
    """Each pair of editors, or each editor with each of the others; Holm-corrected together, with verdicts.

    Where two chains of a case were planned for different numbers of rounds, the smaller one counts for both.
    """
    names = [(a, b) for a in editors for b in others] if others else list(combinations(editors, 2))
    pairs = [one(fates, a, b) for a, b in names]
    asked = {place: pair.p_value for place, pair in enumerate(pairs) if pair.p_value is not None}
    corrected = dict(zip(asked, holm(list(asked.values())), strict=True))
    return [
        replace(pair, p_holm=corrected.get(place), verdict=verdict(pair, corrected.get(place), LEVEL))
        for place, pair in enumerate(pairs)
    ]


def one(fates: Kept, first: str, second: str) -> Comparison:
    """Two editors, uncorrected."""
    both = fates[first].keys() & fates[second].keys()
    horizons = {key: min(fates[first][key][1], fates[second][key][1]) for key in both}
    sides: list[dict[Hashable, float | None]] = []
    for editor in (first, second):
        cut = kept({key: fate for key, (fate, _) in fates[editor].items() if key in both}, horizons)
        sides.append({key: cut.get(key) for key in fates[editor]})
    return compare((first, second), sides[0], sides[1], {key: key[0] for key in both})


def rows(fates: Kept, pairs: Sequence[Comparison], group: str, family: str) -> list[dict[str, Any]]:
    """The comparisons as rows, with the log-rank test beside them as a description."""
    found = []
    for pair in pairs:
        low, high = pair.interval or (None, None)
        common = [
            key
            for key in fates[pair.first].keys() & fates[pair.second].keys()
            if not (fates[pair.first][key][0].failed or fates[pair.second][key][0].failed)
        ]
        mine, theirs = ([fates[editor][key][0] for key in common] for editor in (pair.first, pair.second))
        statistic, p = (None, None) if not common else log_rank(*times_and_ends(mine), *times_and_ends(theirs))
        found.append(
            {
                "group": group,
                "family": family,
                "first": pair.first,
                "second": pair.second,
                "difference": pair.difference,
                "difference_low": low,
                "difference_high": high,
                "cases": pair.cases,
                "left_out": pair.left_out,
                "sources": pair.sources,
                "p_value": pair.p_value,
                "p_holm": pair.p_holm,
                "verdict": words(pair),
                "log_rank": statistic,
                "log_rank_p": p,
                "sentence": pair.sentence,
            }
        )
    return found


def times_and_ends(fates: Sequence[Fate]) -> tuple[list[float], list[bool]]:
    return [fate.time for fate in fates], [fate.lost for fate in fates]


def judged(pair: Comparison, p_holm: float | None) -> str:
    """The verdict by name under a corrected p."""
    return words(replace(pair, verdict=verdict(pair, p_holm, LEVEL)))


def words(pair: Comparison) -> str:
    """The verdict by name: the editor that keeps more, 'open', or 'indicative' below 12 sources."""
    return {"first": pair.first, "second": pair.second}.get(pair.verdict, pair.verdict)


def ranks(editors: Sequence[str], pairs: Sequence[Comparison]) -> dict[str, int | None]:
    """One more than the number of editors that are better beyond chance; ties share a rank.

    None for an editor that has no pair on enough sources: it is indicative only.
    """
    places: dict[str, int | None] = {}
    for editor in editors:
        own = [pair for pair in pairs if editor in (pair.first, pair.second)]
        judged = [pair for pair in own if pair.verdict != "indicative"]
        places[editor] = 1 + sum(words(pair) not in (editor, "open") for pair in judged) if judged else None
    return places


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    note = "" if rows else "There are no two editors to compare."
    return Table("pairs", "Pairs of editors on their common cases", COLUMNS, rows, note)
