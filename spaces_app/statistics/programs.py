"""Every program of the dataset's suites: how many chains it has, and what became of each of them."""

from collections import Counter
from typing import Any

from ..analysis.accounting import LEFT_OUT, UNKNOWN, account_for, counted_places, places
from ..analysis.analysis import Analysis
from ..analysis.tables import Column
from . import OnPage, Rows

TITLE = "What became of every program"
SECTION = "Methods"
ON_PAGE = OnPage(order=80, folded=True, part_by="suite")
ABSENT = "no chain of it is in this dataset: it was not generated here, or not built"
COLUMNS = (
    Column("suite", "Suite", shown=False),
    Column("program", "Program"),
    Column("category", "Category"),
    Column("chains", "Chains", "count"),
    Column("reason", "Left out, or absent, because"),
)


def key_of(place: str) -> str:
    """The column of a place.

    >>> key_of("left out: under recall audit")
    'left_out_under_recall_audit'
    """
    return place.replace(": ", "_").replace(" ", "_")


def columns(rows: Rows) -> list[Column]:
    """With one for each place that chains can have, and for programs of no study here only if there are any."""
    shown = [place for place in places() if place != UNKNOWN or any(row.get(key_of(place)) for row in rows)]
    own = [
        Column(key_of(place), place.removeprefix("cases ").capitalize(), "count", shown=place in counted_places())
        for place in shown
    ]
    return [*COLUMNS[:-1], *own, COLUMNS[-1]]


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each program of each suite, those that a suite names and the dataset does not have among them."""
    place_of = account_for(analysis)
    chains: dict[tuple[str, str], list[str]] = {}
    category = {}
    for chain in analysis.chains:
        chains.setdefault((chain.suite, chain.program.id), []).append(place_of[chain.id])
        category[chain.program.id] = chain.program.category
    for suite in {chain.suite for chain in analysis.chains}:
        for program in analysis.options.suites.get(suite, ()):
            chains.setdefault((suite, program), [])
    return [
        {"suite": suite, "program": program, "category": category.get(program), "chains": len(own)}
        | {key_of(place): count for place, count in Counter(own).items()}
        | {"reason": why_not_counted(own)}
        for (suite, program), own in sorted(chains.items())
    ]


def why_not_counted(chain_places: list[str]) -> str | None:
    """The reasons for which chains are left out, each with its number; or why there is none."""
    if not chain_places:
        return ABSENT
    out = Counter(place.removeprefix(LEFT_OUT) for place in chain_places if place.startswith(LEFT_OUT))
    return "; ".join(f"{count} {name}" for name, count in sorted(out.items())) or None


def note(analysis: Analysis, rows: Rows) -> str:
    """The sum for each suite: chains generated are those counted and those left out by name."""
    return " ".join(equation(suite, [row for row in rows if row["suite"] == suite])
                    for suite in dict.fromkeys(row["suite"] for row in rows))  # fmt: skip


def equation(suite: str, rows: Rows) -> str:
    """'demo: 42 chains = 12 cases kept + 26 cases lost + 4 left out: under recall audit.'"""
    total = sum(row["chains"] for row in rows)
    parts = {place: sum(row.get(key_of(place), 0) for row in rows) for place in places()}
    sums = " + ".join(f"{count} {place}" for place, count in parts.items() if count) or "0"
    absent = sum(not row["chains"] for row in rows)
    words = f"; {absent} of its programs {'have' if absent > 1 else 'has'} no chain here" if absent else ""
    return f"{suite or 'no suite'}: {total} chains generated = {sums}{words}."
