"""Every program of the dataset's suites: how many chains it has, and what became of each of them."""

from collections import Counter
from typing import Any

from ..analysis.accounting import COUNTED, LEFT_OUT, PLACES, account_for
from ..analysis.analysis import Analysis
from ..analysis.tables import Column
from . import OnPage, Rows

TITLE = "What became of every program"
SECTION = "Methods"
ON_PAGE = OnPage(order=80, folded=True, part_by="suite")
ABSENT = "no chain of it is in this dataset: it was not generated here, or not built"
KEYS = {place: place.replace(": ", "_").replace(" ", "_") for place in PLACES}
COLUMNS = (
    Column("suite", "Suite", shown=False),
    Column("program", "Program"),
    Column("category", "Category"),
    Column("chains", "Chains", "count"),
    *(Column(KEYS[place], place.removeprefix("cases ").capitalize(), "count") for place in PLACES if place in COUNTED),
    *(Column(KEYS[place], place.capitalize(), "count", shown=False) for place in PLACES if place not in COUNTED),
    Column("reason", "Left out, or absent, because"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each program of each suite, those that a suite names and the dataset does not have among them."""
    places = account_for(analysis)
    chains: dict[tuple[str, str], list[str]] = {}
    category = {}
    for chain in analysis.chains:
        chains.setdefault((chain.suite, chain.program.id), []).append(places[chain.id])
        category[chain.program.id] = chain.program.category
    for suite in {chain.suite for chain in analysis.chains}:
        for program in analysis.options.suites.get(suite, ()):
            chains.setdefault((suite, program), [])
    return [
        {"suite": suite, "program": program, "category": category.get(program), "chains": len(own)}
        | {KEYS[place]: count for place, count in Counter(own).items()}
        | {"reason": why_not_counted(own)}
        for (suite, program), own in sorted(chains.items())
    ]


def why_not_counted(places: list[str]) -> str | None:
    """The reasons for which chains are left out, each with its number; or why there is none."""
    if not places:
        return ABSENT
    out = Counter(place.removeprefix(LEFT_OUT) for place in places if place.startswith(LEFT_OUT))
    return "; ".join(f"{count} {name}" for name, count in sorted(out.items())) or None


def note(analysis: Analysis, rows: Rows) -> str:
    """The sum for each suite: chains generated are those counted and those left out by name."""
    return " ".join(equation(suite, [row for row in rows if row["suite"] == suite])
                    for suite in dict.fromkeys(row["suite"] for row in rows))  # fmt: skip


def equation(suite: str, rows: Rows) -> str:
    """'demo: 42 chains = 12 cases kept + 26 cases lost + 4 left out: under recall audit.'"""
    total = sum(row["chains"] for row in rows)
    parts = {place: sum(row.get(KEYS[place], 0) for row in rows) for place in PLACES}
    sums = " + ".join(f"{count} {place}" for place, count in parts.items() if count) or "0"
    absent = sum(not row["chains"] for row in rows)
    words = f"; {absent} of its programs {'have' if absent > 1 else 'has'} no chain here" if absent else ""
    return f"{suite or 'no suite'}: {total} chains generated = {sums}{words}."
