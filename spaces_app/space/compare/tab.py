"""Compares editors: one picture and one program, editors as rows, rounds as columns."""

from typing import TYPE_CHECKING

from ..endings import ending
from ..headline import leaderboard
from ..served_dataset import Answer, ServedDataset

if TYPE_CHECKING:
    from ...reporting.figures import Drawing

TITLE, ORDER = "Compare", 30
_MOST = 6  # editors in one comparison
_FIRST = 4  # unless a visitor chooses editors


def compare(dataset: ServedDataset, source: str = "", program: str = "", editors: list[str] = []) -> dict:  # noqa: B006 - read only
    """Two to six editors on one picture and one program: their chains, and what each round retained."""
    dataset.check_editors(editors)
    of_source: dict[str, dict[str, list[str]]] = {}
    for editor, its_source, its_program in dataset.runs_of:
        of_source.setdefault(its_source, {}).setdefault(its_program, []).append(editor)
    if source not in of_source:  # the picture with most editors on one program
        source = max(of_source, key=lambda name: max(len(names) for names in of_source[name].values()))
    programs = of_source[source]
    program = program if program in programs else max(programs, key=lambda name: len(programs[name]))
    available = [name for name in _ranked(dataset) if name in programs[program]]
    chosen = [name for name in dict.fromkeys(editors) if name in available][:_MOST] or available[:_FIRST]
    return {
        "source": source,
        "program": program,
        "sources": sorted(of_source, key=dataset.title),
        "programs": sorted(programs),
        "editors": available,
        "rows": [_row(dataset, dataset.runs_of[editor, source, program][0]) for editor in chosen],
    }


def _ranked(dataset: ServedDataset) -> list[str]:
    """All editors, the best first, baselines last."""
    ranked = [row["editor"] for row in leaderboard(dataset).table.rows] if dataset.counted else []
    return list(dict.fromkeys([*ranked, *dataset.names["editor"]]))


def _row(dataset: ServedDataset, chain_id: str) -> Answer:
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


def _compare_figure(
    dataset: ServedDataset,
    source: str = "",
    program: str = "",
    editors: list[str] = [],  # noqa: B006 - read only
) -> "Drawing":
    """The same as a grid of pictures."""
    from ..saved_figures import compared_pictures

    return compared_pictures(dataset, compare(dataset, source, program, editors))


PUBLIC = (compare,)
FIGURES = {"compare": _compare_figure}
