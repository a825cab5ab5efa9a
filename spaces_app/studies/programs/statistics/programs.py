"""What became of the chains of every program."""

from collections import Counter
from collections.abc import Mapping, Sequence

from ....analysis.analysis import Analysis
from ....analysis.groups import LEFT_OUT, UNKNOWN, account_for, places
from ....analysis.tables import Column, TableRow, column, columns_by_key
from ....statistics import OnPage

TITLE = "What became of every program"
SECTION = "Methods"
ON_PAGE = OnPage(order=80, folded=True, part_by="suite")
ABSENT = "no chain in this dataset: not generated here, or not built"


def key_of(place: str) -> str:
    """The column of a place.

    >>> key_of("left out: under recall audit")
    'left_out_under_recall_audit'
    """
    return place.replace(": ", "_").replace(" ", "_")


def _column_of(key: str) -> Column:
    place = next(place for place in places() if key_of(place) == key)
    return Column(key, place.removeprefix("cases ").capitalize(), "count", shown=not place.startswith(LEFT_OUT))


class Row(TableRow):
    suite: str = column("Suite", shown=False)
    program: str = column("Program")
    category: str | None = column("Category")
    chains: int = column("Chains", "count")
    places: Mapping[str, int | None] = columns_by_key(_column_of)
    reason: str | None = column("Left out, or absent, because")


def rows(analysis: Analysis) -> list[Row]:
    place_of = account_for(analysis)
    chains: dict[tuple[str, str], list[str]] = {}
    category = {}
    for chain in analysis.chains:
        chains.setdefault((chain.suite, chain.program.id), []).append(place_of[chain.id])
        category[chain.program.id] = chain.program.category
    for suite in {chain.suite for chain in analysis.chains}:
        for program in analysis.programs_of(suite):
            chains.setdefault((suite, program), [])
    # Studies that are not installed have a column only if there are such chains.
    shown = [place for place in places() if place != UNKNOWN or UNKNOWN in place_of.values()]
    return [
        Row(
            suite=suite,
            program=program,
            category=category.get(program),
            chains=len(chain_places),
            places={key_of(place): chain_places.count(place) or None for place in shown},
            reason=_left_out(chain_places) or None if chain_places else ABSENT,
        )
        for (suite, program), chain_places in sorted(chains.items())
    ]


def _left_out(chain_places: Sequence[str]) -> str:
    reasons = Counter(place.removeprefix(LEFT_OUT) for place in chain_places if place.startswith(LEFT_OUT))
    return "; ".join(f"{count} {name}" for name, count in sorted(reasons.items()))
