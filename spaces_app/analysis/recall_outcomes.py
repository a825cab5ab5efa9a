"""What the recall audit found: which editors are confirmed to remember the original, so that they are listed apart.

In an audited chain marks are planted into the forward picture before it is to be undone, or it is mirrored in runs of
before. An answer is recalled when it is far closer to the picture as it was never shown again than to the one that was
shown. A chain is recalled or not, however many rounds it has.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.comparison import LEVEL
from scipy import special

from .stored_rows import narrow, with_any

if TYPE_CHECKING:
    from .analysis import Analysis

BELOW = 0.5  # of the two distances' ratio: no hair's breadth
INNOCENT = 0.1  # share of chains that may fall below by accident; what innocent editors reach is far less
RECALL_COLUMNS = ("recall_shown", "recall_unshown", "marks_shown", "marks_unshown")
Row = Mapping[str, Any]


def recall_of(analysis: "Analysis") -> list[dict[str, Any]]:
    """What the recall audit found, editor by editor."""
    columns = ["chain", "position", *RECALL_COLUMNS]
    return recall_rows(with_any(narrow(analysis.scores, columns), RECALL_COLUMNS), analysis.chains)


def recall_rows(scores: Iterable[Row], chains: Iterable[FinishedChain]) -> list[dict[str, Any]]:
    """One row per editor that has audited chains, or chains under a salt that drew none of them for an audit."""
    audited: dict[str, dict[str, list[FinishedChain]]] = defaultdict(lambda: defaultdict(list))
    last_position = {}
    salted = set()
    for chain in chains:
        kind = chain.chain.settings.get("audit")
        if "salt" in chain.chain.settings:
            salted.add(chain.editor)
        if kind:
            audited[chain.editor][str(kind)].append(chain)
            last_position[chain.id] = len(chain.program.cycle)
    returns: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in scores:
        # A forward picture is no return: nothing was to be taken back.
        if row.get("recall_shown") is not None and row["position"] == last_position.get(row["chain"]):
            returns[row["chain"]].append((row["recall_unshown"], row["recall_shown"]))
        if row.get("marks_shown") is not None and row["chain"] in last_position:
            returns[row["chain"]].append((row["marks_unshown"], row["marks_shown"]))
    rows = []
    for editor in sorted({*audited, *salted}):
        kinds = audited[editor]
        tested = kinds["marks"] + kinds["mirror"]
        ratios = [chain_ratio(returns[chain.id]) for chain in tested]
        word, recalled, judged = recall_outcome(ratios, [chain.source.id for chain in tested])
        rows.append(
            {
                "editor": editor,
                "marked": len(kinds["marks"]),
                "mirrored": len(kinds["mirror"]),
                "noised": len(kinds["noise"]),
                "judged": judged,
                "salted": editor in salted,
                "outcome": word,
                "recalled": recalled if judged else None,
            }
        )
    return rows


def chain_ratio(returns: Sequence[tuple[float, float]]) -> float | None:
    """The middle, over a chain's returns, of distance to the unshown original by distance to the shown one.

    None where no return could be judged. With an even number the upper middle counts: doubt speaks for the editor.

    >>> chain_ratio([(10.0, 50.0), (12.0, 48.0)])
    0.25
    """
    ratios = sorted(unshown / shown if shown else float("inf") if unshown else 1.0 for unshown, shown in returns)
    return ratios[len(ratios) // 2] if ratios else None


def recall_outcome(ratios: Sequence[float | None], sources: Sequence[Hashable]) -> tuple[str, int, int]:
    """What an editor's audited chains say, with the recalled ones and all that were judged.

    Confirmed when so many sources recalled would come up in at most 5% of innocent editors, of whose chains a tenth
    fall below. Chains of one source have one voice between them (more than half of them), because a picture that
    misleads once does so again. One source alone confirms nothing. Suspected, and not listed apart: a single chain, or
    more sources than chance gives that come closer to the unshown original by any hair's breadth.

    >>> recall_outcome([0.2, 0.3, 1.5], ["a", "b", "c"])
    ('recall confirmed', 2, 3)
    >>> recall_outcome([0.2, 0.9, 1.5], ["a", "b", "c"])
    ('recall suspected', 1, 3)
    >>> recall_outcome([0.95, 0.99, 0.98], ["a", "b", "c"])
    ('no recall', 0, 3)
    """
    known = [(source, ratio) for ratio, source in zip(ratios, sources, strict=True) if ratio is not None]
    recalled = sum(ratio < BELOW for _, ratio in known)
    if not known:
        return "not judged", 0, 0
    size = len({source for source, _ in known})
    if beyond_chance(voices(known, BELOW), size, INNOCENT):
        word = "recall confirmed"
    elif recalled or beyond_chance(voices(known, 1.0), size, 0.5):
        word = "recall suspected"
    else:
        word = "no recall"
    return word, recalled, len(known)


def voices(known: Sequence[tuple[Hashable, float]], below: float) -> int:
    """In how many sources more than half of the chains fall below."""
    by_source: dict[Hashable, list[bool]] = defaultdict(list)
    for source, ratio in known:
        by_source[source].append(ratio < below)
    return sum(2 * sum(own) > len(own) for own in by_source.values())


def beyond_chance(count: int, size: int, chance: float) -> bool:
    """Whether so many of so many come up in at most 5% where each does so with this chance."""
    return count > 0 and bool(special.bdtrc(count - 1, size, chance) <= LEVEL)


def unjudged_recall(rows: Iterable[Row]) -> list[str]:
    """The editors under a salt of which nothing is known: they have no rank until they are judged."""
    return [row["editor"] for row in rows if row["salted"] and row["outcome"] == "not judged"]


def confirmed_recall(rows: Iterable[Row]) -> list[str]:
    """The editors that are listed apart."""
    return [row["editor"] for row in rows if row["outcome"] == "recall confirmed"]
