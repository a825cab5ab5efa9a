"""What the page says about a dataset with restored pictures and no case that a headline counts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...analysis.tables import Table

_TITLE = "How well are degraded pictures restored?"
_HOW_TO_READ = (
    "An editor restores a degraded picture, and its answer is compared with the clean one, if there is one.",
    "Brackets hold 95% confidence intervals over clean pictures.",
)


def stand_in(tables: Mapping[str, Table], facts: Mapping[str, Any]) -> dict[str, Any] | None:
    table = replace(tables["restoration_methods"].where(table=None), note="")
    rows = table.rows
    if not rows:
        return None
    best = " ".join(f"{row['editor']} is best in {row['best_in']}." for row in rows if row["best_in"])
    pictures, clean = (max(row[key] for row in rows) for key in ("pictures", "clean"))
    scope = (
        f"{len(rows)} ways to restore {pictures} degraded pictures, "
        f"made from {clean} clean picture{'s' if clean != 1 else ''}, of the suite {facts['suite']}."
    )
    lead = [best, scope] if best else [scope]
    return {"title": _TITLE, "how_to_read": _HOW_TO_READ, "lead": lead, "table": table}
