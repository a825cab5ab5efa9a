"""What degrades fastest: programs and kinds of picture by rounds kept, and each program's difficulty as measured."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import mean_interval

from ..study.groups import CaseGroup
from ..study.tables import Column, Table, hide_empty_columns
from .difficulty import difficulty
from .variance import Outcomes, known

HARDEST = (
    Column("group", "Programs", shown=False),
    Column("by", "By"),
    Column("value", "Which"),
    Column("rounds_kept", "Rounds kept, mean", "rounds", interval=True),
    Column("editors", "Editors", "count"),
    Column("cases", "Cases", "count"),
    Column("sources", "Sources", "count"),
)
DIFFICULTY = (
    Column("group", "Programs", shown=False),
    Column("program", "Program"),
    Column("declared", "Declared"),
    Column("factor", "Half-life against the average program's", "factor", interval=True),
    Column("behaves", "Behaves like"),
    Column("survived", "Outlive the last round", "share"),
    Column("chains", "Cases", "count"),
    Column("sources", "Sources", "count"),
    Column("reason", "Why there is no factor"),
)


def table(groups: Sequence[CaseGroup], outcomes: Mapping[str, Outcomes]) -> Table:
    """Programs and kinds of picture, those in which fewest rounds are kept first."""
    rows: list[dict[str, Any]] = []
    for group in groups:
        values = [(case, float(outcome.kept)) for case, outcome in known(group, outcomes[group.name])]
        for name in ("kind", "program"):
            found = []
            for value in sorted({getattr(case, name) for case, _ in values}):
                own = [(case, kept) for case, kept in values if getattr(case, name) == value]
                kept, sources = np.array([each for _, each in own]), [case.source for case, _ in own]
                low, high = mean_interval(kept, sources, 0.95) or (None, None)
                about = {"group": group.name, "by": name, "value": value, "rounds_kept": float(kept.mean())}
                limits = {} if low is None or high is None else {"rounds_kept_low": max(low, 0.0)}
                limits |= {} if high is None else {"rounds_kept_high": min(high, group.rounds)}
                counts = {"editors": len({case.editor for case, _ in own}), "cases": len(own)}
                found.append(about | limits | counts | {"sources": len(set(sources))})
            rows += sorted(found, key=lambda row: row["rounds_kept"])
    return Table("hardest", "What degrades fastest", HARDEST, rows)


def measured(groups: Sequence[CaseGroup], outcomes: Mapping[str, Outcomes]) -> Table:
    """Each program's effect on the half-life once editors and pictures are accounted for, beside its declared class."""
    rows: list[dict[str, Any]] = []
    for group in groups:
        cases = known(group, outcomes[group.name])
        if not cases:
            continue
        lives = [outcome.lost_at for _, outcome in cases]
        names = [[getattr(case, name) for case, _ in cases] for name in ("editor", "source", "program")]
        declared = {case.program: case.reversibility for case, _ in cases}
        for one in difficulty(lives, names[0], names[1], names[2], declared, group.rounds):
            values = {name: getattr(one, name) for name in ("program", "declared", "factor", "behaves", "survived")}
            counts = {"chains": one.chains, "sources": one.sources, "reason": one.reason}
            rows.append({"group": group.name, **values, **counts, "factor_low": one.low, "factor_high": one.high})
    return hide_empty_columns(Table("difficulty", "Difficulty of programs as measured", DIFFICULTY, rows))
