"""What was measured and how, in numbers for a table and in a paragraph that a paper can paste."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.halflife.comparison import EXACT_UP_TO, LEVEL
from convergebench.metric_modules.halflife.fates import Fate

from .cases import Case
from .fates import CHECKS, Field, coverage
from .table import Column, Table, written

COLUMNS = (Column("fact", "Fact"), Column("value", "Value"))


def facts(
    cases: Sequence[Case],
    left_out: Sequence[str],
    excluded: Sequence[str],
    groups: Mapping[str, Field],
    fates: Mapping[str, Mapping[str, Sequence[Fate]]],
    scores: Sequence[Mapping[str, Any]],
    floors: Sequence[Mapping[str, Any]],
    threshold: float,
) -> Table:
    """Everything the methods paragraph says, one fact a row."""
    found: dict[str, Any] = {
        "suite": ", ".join(sorted({case.suite for case in cases})),
        "editors": len({case.editor for case in cases}),
        "chains": len(cases),
        "chains that count twice or have no scores": len(left_out),
        "chains under audit": sum(case.audit is not None for case in cases),
        "score rows": len(scores),
        "floor pairs": len(floors),
        "sources": len({case.source for case in cases}),
        "excluded sources": ", ".join(excluded) or "none",
        "threshold": threshold,
        "level": LEVEL,
        "sources for a verdict": EXACT_UP_TO,
    }
    for end, count in sorted(Counter(case.end for case in cases).items()):
        found[f"chains that ended {end}"] = count
    for name, own in groups.items():
        every = [case for editor in own.cases.values() for case in editor]
        missing = sum(fate.failed for editor in fates[name].values() for fate in editor)
        covered = coverage(every)
        found |= {
            f"{name}: headline": own.name,
            f"{name}: cases": len(every),
            f"{name}: sources": len({case.source for case in every}),
            f"{name}: programs": len({case.program for case in every}),
            f"{name}: rounds": own.rounds,
            f"{name}: missing cases": missing,
            f"{name}: checks": ", ".join(own.checks),
            f"{name}: checks that only some editors have": ", ".join(own.partial) or "none",
        }
        found |= {f"{name}: coverage of {check}": written(covered[check], "share") for check in CHECKS}
    signatures = sorted({part for row in scores for part in (row.get("signature") or "").split(" | ") if part})
    for number, signature in enumerate(signatures, 1):
        found[f"signature {number}"] = signature
    return Table("facts", "What was measured", COLUMNS, [{"fact": key, "value": value} for key, value in found.items()])
