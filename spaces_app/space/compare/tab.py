"""Editors side by side on one picture and one program."""

from typing import TYPE_CHECKING

from ..chains.tab import chain_facts
from ..headline import leaderboard
from ..served_dataset import ServedDataset

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
    # The best first, baselines last.
    ranked = [row["editor"] for row in leaderboard(dataset).table.rows] if dataset.groups else []
    available = [name for name in dict.fromkeys([*ranked, *dataset.names["editor"]]) if name in programs[program]]
    chosen = [name for name in dict.fromkeys(editors) if name in available][:_MOST] or available[:_FIRST]
    chains = [dataset.chain(dataset.runs_of[editor, source, program][0]) for editor in chosen]
    return {
        "source": source,
        "program": program,
        "sources": sorted(of_source, key=dataset.title),
        "programs": sorted(programs),
        "editors": available,
        "rows": [chain_facts(chain) | dataset.ending(dataset.case_of.get(chain.id)) for chain in chains],
    }


def _compare_figure(
    dataset: ServedDataset,
    source: str = "",
    program: str = "",
    editors: list[str] = [],  # noqa: B006 - read only
) -> "Drawing":
    from ..saved_figures import compared_pictures

    return compared_pictures(dataset, compare(dataset, source, program, editors))


PUBLIC = (compare,)
FIGURES = {"compare": _compare_figure}
