"""The recall audit: an editor that remembers the original looks perfect, and is listed apart.

A mirrored chain's returns carry, in the scores, whether they are closer to the picture that was never shown mirrored.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .table import Column, Table

CONFIRMED = 0.5  # of the mirrored returns
COLUMNS = (
    Column("editor", "Editor"),
    Column("mirrored", "Mirrored chains", "count"),
    Column("returns", "Returns judged", "count"),
    Column("recalled", "Closer to the unmirrored original", "share"),
    Column("noised", "Chains with noise", "count"),
    Column("outcome", "Outcome"),
)
NONE = "No chain of this dataset was audited for recall."
Row = Mapping[str, Any]


def table(scores: Iterable[Row], chains: Iterable[Row]) -> Table:
    """One row per editor that has audited chains."""
    kinds: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    owner = {}
    for row in chains:
        kind = json.loads(row["settings"] or "{}").get("audit")
        if kind:
            kinds[row["editor"]][kind].add(row["chain"])
            owner[row["chain"]] = row["editor"]
    judged: dict[str, list[bool]] = defaultdict(list)
    for row in scores:
        if row["chain"] in owner and row.get("recalled") is not None:
            judged[owner[row["chain"]]].append(bool(row["recalled"]))
    rows = [
        {
            "editor": editor,
            "mirrored": len(own["mirror"]),
            "noised": len(own["noise"]),
            "returns": len(judged[editor]),
            "outcome": outcome(judged[editor]),
            "recalled": sum(judged[editor]) / len(judged[editor]) if judged[editor] else None,
        }
        for editor, own in sorted(kinds.items())
    ]
    return Table("recall", "The recall audit", COLUMNS, rows, "" if rows else NONE)


def outcome(recalled: Sequence[bool]) -> str:
    if not recalled:
        return "not judged"
    return "recall confirmed" if sum(recalled) / len(recalled) > CONFIRMED else "no recall"


def confirmed(table: Table) -> list[str]:
    """The editors that are listed apart."""
    return [row["editor"] for row in table.rows if row["outcome"] == "recall confirmed"]
