"""The recall audit: an editor that remembers the original looks perfect, and is listed apart.

The scores of a mirrored chain's returns say whether they are closer to the original as it was never shown again.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from convergebench.metric_modules.halflife.comparison import LEVEL
from scipy import special

from ..study.tables import Column, Table

CHANCE = 0.5  # an answer that has nothing to do with the original is closer to it, or to its mirror image, by chance
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
    owner, last = {}, {}
    for row in chains:
        kind = json.loads(row["settings"] or "{}").get("audit")
        if kind:
            kinds[row["editor"]][kind].add(row["chain"])
            owner[row["chain"]] = row["editor"]
            last[row["chain"]] = len(json.loads(row["cycle"]))
    judged: dict[str, list[bool]] = defaultdict(list)
    for row in scores:
        # A forward picture is no return: nothing was to be taken back.
        if row.get("recalled") is not None and row["position"] == last.get(row["chain"]):
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
    """Confirmed only beyond chance; an editor under suspicion is not listed apart."""
    if not recalled:
        return "not judged"
    if sum(recalled) / len(recalled) <= CHANCE:
        return "no recall"
    beyond = special.bdtrc(sum(recalled) - 1, len(recalled), CHANCE) <= LEVEL
    return "recall confirmed" if beyond else "recall suspected"


def confirmed(table: Table) -> list[str]:
    """The editors that are listed apart."""
    return [row["editor"] for row in table.rows if row["outcome"] == "recall confirmed"]
