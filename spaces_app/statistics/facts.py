"""What was measured and how; the report's sentences are made from these facts."""

from collections import Counter

from convergebench.metric_modules.halflife.comparison import LEVEL, RANKED_FROM
from convergebench.metric_modules.scores import signature_texts

from ..analysis.analysis import Analysis
from ..analysis.cases import checks_left_out
from ..analysis.floors import excluded_text
from ..analysis.groups import CHECKS, UNKNOWN, account_for, coverage, is_missing_case, places
from ..analysis.tables import TableRow, column, format_value
from . import OnPage

TITLE = "What was measured"
SECTION = "Methods"
ON_PAGE = OnPage(order=90, folded=True)
Fact = str | int | float


class Row(TableRow):
    fact: str = column("Fact")
    value: Fact = column("Value")


def rows(analysis: Analysis) -> list[Row]:
    """Facts about one group of programs begin with the group's name."""
    cases, scored = analysis.cases, analysis.scores.counts
    measured = {chain.editor for chain in analysis.chains if chain.id in scored}
    unscored = sorted({chain.editor for chain in analysis.chains} - measured)
    facts: dict[str, Fact] = {
        "suite": ", ".join(sorted({case.chain.suite for case in cases})),
        "editors": len({case.editor for case in cases}),
        "chains": len(cases),
        "chains that count twice or have no scores": len(analysis.chains) - len(cases),
        "editors without scores": ", ".join(unscored) or "none",
        "chains under audit": sum("audit" in case.chain.chain.settings for case in cases),
        "score rows": scored.total(),
        "floor pairs": len(analysis.floor_rows),
        "sources": len({case.source for case in cases}),
        "excluded sources": excluded_text(analysis.look_alikes) or "none",
        "threshold": f"{analysis.threshold:g}",
        "framing": "no loss" if analysis.framing is None else f"{analysis.framing:g}",
        "level": LEVEL,
        "limits": "95%",
        "sources for a verdict": RANKED_FROM,
    }
    facts |= _chain_counts(analysis)
    for end, count in sorted(Counter(case.end for case in cases).items()):
        facts[f"chains that ended {end}"] = count
    for name in analysis.groups:
        facts |= _group_facts(analysis, name)
    texts = {text for signature in analysis.signatures for text in signature_texts(signature)}
    facts |= {f"signature {number}": text for number, text in enumerate(sorted(texts), 1)}
    return [Row(fact=fact, value=value) for fact, value in facts.items()]


def _chain_counts(analysis: Analysis) -> dict[str, int]:
    place_of = account_for(analysis)
    counts = Counter(place_of.values())
    shown = [place for place in places() if place != UNKNOWN or counts[place]]
    chain_counts = {"chains generated": len(analysis.chains)} | {place: counts[place] for place in shown}
    counted = {chain for chain, place in place_of.items() if place.startswith("cases ")}
    checks_missing = Counter(
        code
        for case in analysis.cases
        if case.chain.id in counted
        for code in set(checks_left_out(case).values())
    )
    return chain_counts | {
        f"edit check left out, {code}": count for code, count in sorted(checks_missing.items())
    }


def _group_facts(analysis: Analysis, name: str) -> dict[str, Fact]:
    group = analysis.groups[name]
    cases = group.all_cases
    covered = coverage(cases)
    return {
        f"{name}: headline": group.headline_name(group.checks),
        f"{name}: cases": len(cases),
        f"{name}: sources": len({case.source for case in cases}),
        f"{name}: programs": len({case.program for case in cases}),
        f"{name}: rounds": group.rounds,
        f"{name}: missing cases": sum(is_missing_case(outcome) for _, outcome in analysis.with_outcomes(group)),
        f"{name}: checks": ", ".join(group.checks),
        f"{name}: checks that only some editors have": ", ".join(group.partial) or "none",
        **{f"{name}: coverage of {check}": format_value(covered[check], "share") for check in CHECKS},
    }
