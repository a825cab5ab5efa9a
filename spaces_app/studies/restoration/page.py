"""What the page says about a dataset with restored pictures and no case that a headline counts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...analysis.tables import Table
from ...reporting.page import StandIn

_TITLE = "How well are degraded pictures restored?"
_HOW_TO_READ = (
    "An editor is asked to restore a degraded picture, and its answer is compared with the clean picture; if there "
    "is no clean picture, metrics that need none judge the answer.",
    "Several degradations of one clean picture are not independent: brackets hold 95% confidence intervals over "
    "clean pictures.",
)


def stand_in(tables: Mapping[str, Table], facts: Mapping[str, Any]) -> StandIn | None:
    table = replace(tables["restoration_methods"].where(table=None), note="")
    rows = table.rows
    if not rows:
        return None
    best = " ".join(f"{row['editor']} is best in {row['best_in']}." for row in rows if row["best_in"])
    pictures, clean = (max(row[key] for row in rows) for key in ("pictures", "clean"))
    scope = (
        f"{len(rows)} ways to restore {pictures} degraded pictures, made from {clean} clean ones, of the suite "
        f"{facts['suite']}. A restored picture is compared with the clean one."
    )
    return StandIn(_TITLE, _HOW_TO_READ, [best, scope] if best else [scope], table)
