"""The tab that compares editors: one picture and one program, editors as rows, rounds as columns."""

from collections.abc import Sequence
from typing import Any

from convergebench.generation.records import UserError

from .chains_tab import ending
from .leaderboard import leaderboard
from .served_dataset import ServedDataset

MOST = 6  # editors beside each other
FIRST = 4  # where nobody has chosen


def compare(dataset: ServedDataset, source: str = "", program: str = "", editors: Sequence[str] = ()) -> dict[str, Any]:
    """What each editor returned of one picture under one program; without editors, the first of the leaderboard."""
    for editor in editors:
        if editor not in dataset.names["editor"]:
            raise UserError(f"no editor {editor[:40]!r}; the editors are {', '.join(dataset.names['editor'])}")
    of_source: dict[str, dict[str, list[str]]] = {}
    for editor, its_source, its_program in dataset.runs_of:
        of_source.setdefault(its_source, {}).setdefault(its_program, []).append(editor)
    source = source if source in of_source else most_shared(of_source)
    programs = of_source[source]
    program = program if program in programs else max(programs, key=lambda each: len(programs[each]))
    there = [name for name in ranked(dataset) if name in programs[program]]
    chosen = [name for name in dict.fromkeys(editors) if name in there][:MOST] or there[:FIRST]
    return {
        "source": source,
        "program": program,
        "sources": sorted(of_source, key=lambda each: dataset.title(each)),
        "programs": sorted(programs),
        "editors": there,
        "rows": [row(dataset, dataset.runs_of[editor, source, program][0]) for editor in chosen],
    }


def most_shared(of_source: dict[str, dict[str, list[str]]]) -> str:
    """The picture on which most editors did the same."""
    return max(of_source, key=lambda each: max(len(names) for names in of_source[each].values()))


def ranked(dataset: ServedDataset) -> list[str]:
    """All editors, the best first, baselines last."""
    board = [row["editor"] for row in leaderboard(dataset).table.rows] if dataset.counted else []
    return [*board, *(name for name in dataset.names["editor"] if name not in board)]


def row(dataset: ServedDataset, chain_id: str) -> dict[str, Any]:
    """One editor's chain: the steps to show and what each round retained."""
    chain = dataset.chain(chain_id)
    return {
        "chain": chain_id,
        "editor": chain.editor,
        "cycle": chain.program.cycle,
        "rounds": chain.rounds,
        "steps": chain.calls,
        **ending(dataset, dataset.case_of.get(chain_id)),
    }
