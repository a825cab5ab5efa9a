"""What was measured and how, one fact a row: the methods paragraph and the page's sentences are made of these."""

from collections import Counter
from typing import Any

from convergebench.metric_modules.halflife.comparison import LEVEL, RANKED_FROM
from convergebench.metric_modules.scores import signature_of, signature_texts

from ..study.accounting import PLACES, account_for
from ..study.cases import checks_left_out
from ..study.floors import excluded_text
from ..study.groups import CHECKS, coverage, is_missing_case
from ..study.stored_rows import narrow
from ..study.study import Study
from ..study.tables import Column, format_value
from . import OnPage

TITLE = "What was measured"
SECTION = "Methods"
ON_PAGE = OnPage(order=90, folded=True)
COLUMNS = (Column("fact", "Fact"), Column("value", "Value"))


def rows(study: Study) -> list[dict[str, Any]]:
    """Counts, rules and signatures; those of one group of programs begin with its name."""
    cases = study.cases
    facts: dict[str, Any] = {
        "suite": ", ".join(sorted({case.chain.suite for case in cases})),
        "editors": len({case.editor for case in cases}),
        "chains": len(cases),
        "chains that count twice or have no scores": len(study.left_out),
        "editors without scores": ", ".join(study.unscored) or "none",
        "chains under audit": sum("audit" in case.chain.chain.settings for case in cases),
        "score rows": len(study.scores),
        "floor pairs": len(study.floor_rows),
        "sources": len({case.source for case in cases}),
        "excluded sources": excluded_text(study.look_alikes) or "none",
        "threshold": f"{study.options.threshold:g}",
        "framing": "no loss" if study.options.framing is None else f"{study.options.framing:g}",
        "level": LEVEL,
        "limits": "95%",
        "growth exponents": "0 jitter, 1 random walk, 2 drift",
        "sources for a verdict": RANKED_FROM,
    }
    facts |= where_chains_went(study)
    for end, count in sorted(Counter(case.end for case in cases).items()):
        facts[f"chains that ended {end}"] = count
    for name in study.groups:
        facts |= group_facts(study, name)
    for number, signature in enumerate(signatures(study), 1):
        facts[f"signature {number}"] = signature
    return [{"fact": fact, "value": value} for fact, value in facts.items()]


def where_chains_went(study: Study) -> dict[str, int]:
    """Every chain once: counted, or left out by name. The counts add up to the chains generated."""
    places = account_for(study)
    counts = Counter(places.values())
    found = {"chains generated": len(study.chains)} | {place: counts[place] for place in PLACES}
    counted = {chain for chain, place in places.items() if place.startswith("cases ")}
    why = Counter(
        code for case in study.cases if case.chain.id in counted for code in set(checks_left_out(case).values())
    )
    return found | {f"edit check left out, {code}": count for code, count in sorted(why.items())}


def group_facts(study: Study, name: str) -> dict[str, Any]:
    group = study.groups[name]
    cases = [case for own in group.cases.values() for case in own]
    covered = coverage(cases)
    return {
        f"{name}: headline": group.headline,
        f"{name}: cases": len(cases),
        f"{name}: sources": len({case.source for case in cases}),
        f"{name}: programs": len({case.program for case in cases}),
        f"{name}: rounds": group.rounds,
        f"{name}: missing cases": sum(is_missing_case(each) for own in study.outcomes[name].values() for each in own),
        f"{name}: checks": ", ".join(group.checks),
        f"{name}: checks that only some editors have": ", ".join(group.partial) or "none",
        **{f"{name}: coverage of {check}": format_value(covered[check], "share") for check in CHECKS},
    }


def signatures(study: Study) -> list[str]:
    """Every metric's signatures, each once."""
    written = {row["signature"]: row for row in narrow(study.scores, ["signature"]) if row.get("signature")}
    return sorted({text for row in written.values() for text in signature_texts(signature_of(row))})
