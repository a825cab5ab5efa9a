"""What the pages say about a dataset in which things are only added."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...analysis.display_names import display_names
from ...analysis.tables import Table, format_cell

_HOW_TO_READ = (
    "An editor adds one thing after the other; nothing is undone, so no round returns to the original.",
    "Brackets hold 95% confidence intervals over pictures.",
)


def stand_in(tables: Mapping[str, Table], facts: Mapping[str, Any]) -> dict[str, Any] | None:
    table = replace(tables["additions"], note="")
    if not table.rows:
        return None
    made = next(column for column in table.columns if column.key == "added")
    pictures = max(row["sources"] for row in table.rows)
    first, names = table.rows[0], display_names(row["editor"] for row in table.rows)
    alike = [row for row in table.rows if all(row[key] == first[key] for key in ("program", "judged_by"))]
    shares = ", ".join(f"{names[row['editor']]} {format_cell(row, made)}" for row in alike)
    lead = [f"Additions made: {shares}. {pictures} pictures of the suite {facts['suite']}."]
    title = "How many additions does an editor make?"
    return {"title": title, "how_to_read": _HOW_TO_READ, "lead": lead, "table": table}
