"""What the recall audit found: which editors are confirmed to remember the original, so that they are listed apart.

The scores of a mirrored chain's returns say whether they are closer to the original as it was never shown again.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.comparison import LEVEL
from scipy import special

CHANCE = 0.5  # an answer that has nothing to do with the original is closer to it, or to its mirror image, by chance
Row = Mapping[str, Any]


def recall_rows(scores: Iterable[Row], chains: Iterable[FinishedChain]) -> list[dict[str, Any]]:
    """One row per editor that has audited chains."""
    chains_by_kind: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    editor_of, last_position = {}, {}
    for chain in chains:
        kind = chain.chain.settings.get("audit")
        if kind:
            chains_by_kind[chain.editor][str(kind)].add(chain.id)
            editor_of[chain.id] = chain.editor
            last_position[chain.id] = len(chain.program.cycle)
    recalled: dict[str, list[bool]] = defaultdict(list)
    for row in scores:
        # A forward picture is no return: nothing was to be taken back.
        if row.get("recalled") is not None and row["position"] == last_position.get(row["chain"]):
            recalled[editor_of[row["chain"]]].append(bool(row["recalled"]))
    return [
        {
            "editor": editor,
            "mirrored": len(kinds["mirror"]),
            "noised": len(kinds["noise"]),
            "returns": len(recalled[editor]),
            "outcome": recall_outcome(recalled[editor]),
            "recalled": sum(recalled[editor]) / len(recalled[editor]) if recalled[editor] else None,
        }
        for editor, kinds in sorted(chains_by_kind.items())
    ]


def recall_outcome(recalled: Sequence[bool]) -> str:
    """Confirmed only beyond chance; an editor under suspicion is not listed apart."""
    if not recalled:
        return "not judged"
    if sum(recalled) / len(recalled) <= CHANCE:
        return "no recall"
    beyond_chance = special.bdtrc(sum(recalled) - 1, len(recalled), CHANCE) <= LEVEL
    return "recall confirmed" if beyond_chance else "recall suspected"


def confirmed_recall(rows: Iterable[Row]) -> list[str]:
    """The editors that are listed apart."""
    return [row["editor"] for row in rows if row["outcome"] == "recall confirmed"]
