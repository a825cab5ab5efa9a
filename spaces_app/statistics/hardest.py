"""What degrades fastest: plain means of rounds kept by program and kind of picture (`difficulty` has a model)."""

from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import mean_interval

from ..analysis.analysis import Analysis
from ..analysis.tables import Column
from . import OnPage

TITLE = "What degrades fastest"
SECTION = "Where editors fail first"
ON_PAGE = OnPage(order=20)
COLUMNS = (
    Column("group", "Programs", shown=False),
    Column("by", "By"),
    Column("value", "Which"),
    Column("rounds_kept", "Rounds kept, mean", "rounds", interval=True),
    Column("editors", "Editors", "count"),
    Column("cases", "Cases", "count"),
    Column("sources", "Sources", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Programs and kinds of picture, those in which fewest rounds are kept first."""
    found: list[dict[str, Any]] = []
    for name, group in analysis.groups.items():
        values = [(case, float(outcome.kept)) for case, outcome in analysis.measured_cases(group)]
        for by in ("kind", "program"):
            slices = []
            for value in sorted({getattr(case, by) for case, _ in values}):
                own = [(case, kept) for case, kept in values if getattr(case, by) == value]
                kept, sources = np.array([each for _, each in own]), [case.source for case, _ in own]
                low, high = mean_interval(kept, sources, group.rounds) or (None, None)
                slices.append(
                    {
                        "group": name,
                        "by": by,
                        "value": value,
                        "rounds_kept": float(kept.mean()),
                        "rounds_kept_low": low,
                        "rounds_kept_high": high,
                        "editors": len({case.editor for case, _ in own}),
                        "cases": len(own),
                        "sources": len(set(sources)),
                    }
                )
            found += sorted(slices, key=lambda row: row["rounds_kept"])
    return found
