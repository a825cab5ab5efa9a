"""When an editor's own reasoning summary first mentions the noise it adds, after section 4.3 of the Banana100 study."""

from collections import defaultdict
from statistics import mean, stdev
from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..judged import judged_of

QUESTION = "self_evaluation"
TITLE = "First step whose reasoning summary mentions noise or artifacts"
SECTION = "Self-evaluation"
ALL = "all sources"
ON_PAGE = OnPage(part_by="judge", line_where="program")
COLUMNS = (
    Column("judge", "Judge", shown=False),
    Column("editor", "Editor"),
    Column("program", "Program"),
    Column("source", "Source"),
    Column("first", "First step, mean over runs", "rounds"),
    Column("deviation", "Standard deviation", "rounds"),
    Column("runs", "Runs that mention it", "count"),
    Column("never", "Runs that never do", "count"),
    Column("steps", "Steps followed, at most", "count"),
    Column("unclear", "Runs with an unclear answer before", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each judge, editor, program and source, and one for all sources."""
    chains = {chain.id: chain for chain in analysis.chains}
    found: dict[tuple[str, ...], list[tuple[int | None, int, bool]]] = defaultdict(list)
    for (judge, question), rows_by_step in analysis.once(judged_of).by_step.items():
        by_chain: dict[str, dict[int, float | None]] = defaultdict(dict)
        for (name, step), row in rows_by_step.items() if question == QUESTION else ():
            by_chain[name][step] = row["value"]
        for name, answers in by_chain.items():
            if name in chains:
                chain = chains[name]
                for source in (chain.source.id, ALL):
                    found[judge, chain.editor, chain.program.id, source].append(first_yes(answers))
    ordered = sorted(found, key=lambda key: (key[0], key[1], key[2], key[3] == ALL, key[3]))
    return [
        dict(zip(("judge", "editor", "program", "source"), key, strict=True)) | row_of(found[key]) for key in ordered
    ]


def first_yes(answers: dict[int, float | None]) -> tuple[int | None, int, bool]:
    """The first step that is answered yes, the last one that was asked, and whether an answer before is unclear.

    >>> first_yes({1: 0.0, 2: None, 3: 1.0, 4: 0.0}), first_yes({1: 0.0, 2: 0.0})
    ((3, 4, True), (None, 2, False))
    """
    first = min((step for step, value in answers.items() if value == 1.0), default=None)
    unclear = any(value is None and (first is None or step < first) for step, value in answers.items())
    return first, max(answers), unclear


def row_of(chains: list[tuple[int | None, int, bool]]) -> dict[str, Any]:
    """Mean and deviation over the runs that mention it; the others are counted beside them."""
    firsts = [first for first, _, _ in chains if first is not None]
    return {
        "first": mean(firsts) if firsts else None,
        "deviation": stdev(firsts) if len(firsts) > 1 else None,
        "runs": len(firsts),
        "never": len(chains) - len(firsts),
        "steps": max(last for _, last, _ in chains),
        "unclear": sum(unclear for _, _, unclear in chains),
    }


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "A judge read each step's reasoning summary. Runs that never mention it stand beside the mean and not in it, "
        "so that the mean is a lower bound where there are any."
    )
