"""Editors side by side on one picture and one program."""

import textwrap
from typing import TYPE_CHECKING

from convergebench.generation.records import UserError

from ...analysis.cases import spread_rounds
from ...analysis.program_groups import asks_for_edit, group_of_chain, words_for
from ...palette import MUTED
from ..chains.tab import chain_facts
from ..headline import HALF, Choice, ending_of, leaderboard
from ..previews import decode, previews_of
from ..served_dataset import DAMAGED_FILE, ServedDataset

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...reporting.figures import Drawing

TITLE, ORDER = "Compare", 30
_MOST = 6  # editors in one comparison
_MOST_ROUNDS = 7  # in the saved figure
_LOST = "#b84900"  # as --cb-bad on the page
_FIRST = 4  # unless a visitor chooses editors


def compare(
    dataset: ServedDataset,
    source: str = "",
    program: str = "",
    editors: list[str] = [],  # noqa: B006 - read only
    metric: str = "convergence",
    threshold: float = HALF,
) -> dict:
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
    words, choice = words_for(group_of_chain(chains[0])), Choice(metric=metric, threshold=threshold)
    return {
        "source": source,
        "program": program,
        "sources": sorted(of_source, key=dataset.title),
        "programs": sorted(programs),
        "editors": available,
        # What the first picture and the end of a round are called, and whether an edit comes between them.
        "words": [words.start, words.done, asks_for_edit(chains[0])],
        "rows": [chain_facts(chain) | ending_of(dataset, chain.id, choice) for chain in chains],
    }


def _compare_figure(
    dataset: ServedDataset,
    source: str = "",
    program: str = "",
    editors: list[str] = [],  # noqa: B006 - read only
) -> "Drawing":
    """Editors as rows and rounds as columns, each with its picture and what it retained."""
    from ...reporting.figures import Drawing, new_figure
    from ...reporting.page import slug

    compared = compare(dataset, source, program, editors)
    rows, cycle = compared["rows"], compared["rows"][0]["cycle"]
    shown = [(compared["words"][0], 0, 0), *([("edited 1", 0, 1)] if compared["words"][2] else [])]
    rounds = spread_rounds(max(row["rounds"] for row in rows), _MOST_ROUNDS)
    shown += [(f"{compared['words'][1]} {round}", round, round * len(cycle)) for round in rounds]
    title = f"{' / '.join(cycle)}: {dataset.title(compared['source'])}"
    figure, grid = new_figure(len(rows), len(shown), 1.0 + 1.35 * len(rows))
    figure.set_figwidth(1.1 + 1.2 * len(shown))
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    for line, row in zip(grid, rows, strict=True):
        for axes, (_, round, step) in zip(line, shown, strict=True):
            _show(axes, dataset, row["chain"], step)
            quality = row["quality"][round - 1] if 0 < round <= len(row["quality"]) else None
            if quality is not None:
                axes.set_xlabel(f"{quality:.0%} kept", color=MUTED.light, fontsize=9.5)
            if row["lost_at"] and round == min(rounds, key=lambda shown: abs(shown - row["lost_at"])):
                axes.spines[:].set(visible=True, color=_LOST, linewidth=2.5)
                axes.text(0.04, 0.96, f"✗ round {row['lost_at']}", transform=axes.transAxes, va="top", fontsize=9.5,
                          color="white", bbox={"facecolor": _LOST, "edgecolor": "none", "pad": 2})  # fmt: skip
        words = "\n".join(textwrap.wrap(row["verdict"], 24)[:3])
        line[0].set_ylabel(f"{dataset.display[row['editor']][:22]}\n{words}", fontsize=9.5)
    for axes, (label, _, _) in zip(grid[0], shown, strict=True):
        axes.set_title(label, fontsize=9.5)
    words = "; ".join(f"{dataset.display[row['editor']]}: {row['clause'] or 'not lost'}" for row in rows)
    return Drawing(slug(f"compare {compared['source']} {compared['program']}"), title, words, figure)


def _show(axes: "Axes", dataset: ServedDataset, chain: str, step: int) -> None:
    axes.grid(False)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    try:
        path = previews_of(dataset).path(chain, step, "small")
    except (UserError, *DAMAGED_FILE):
        axes.text(0.5, 0.5, "no picture", ha="center", va="center", fontsize=9, color=MUTED.light)
    else:
        axes.imshow(decode(path.read_bytes()))


PUBLIC = (compare,)
FIGURES = {"compare": _compare_figure}
