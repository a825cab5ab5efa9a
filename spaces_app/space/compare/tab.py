"""Editors side by side on one picture and one program."""

from ...analysis.cases import spread_rounds
from ...analysis.program_groups import asks_for_edit, group_named, group_of_chain
from ...reporting.figures import Drawing
from ...reporting.filmstrips import Strip, make_frame
from ...reporting.hero import draw_strips
from ...reporting.page import slug
from ..chains.tab import chain_facts
from ..headline import HALF, Choice, ending_of, leaderboard
from ..served_dataset import DAMAGED_FILE, Answer, ServedDataset

TITLE, ORDER = "Compare", 30
_MOST = 6  # editors in one comparison
_MOST_ROUNDS = 7  # in the saved figure
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
    words, choice = group_named(group_of_chain(chains[0])), Choice(metric=metric, threshold=threshold)
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
) -> Drawing:
    compared = compare(dataset, source, program, editors)
    rows, (start, done, has_edit) = compared["rows"], compared["words"]
    rounds = spread_rounds(max(row["rounds"] for row in rows), _MOST_ROUNDS)
    title = f"{' / '.join(rows[0]['cycle'])}: {dataset.title(compared['source'])}"
    strips = []
    for row in rows:
        lost = row["lost_at"]
        nearest = min(rounds, key=lambda round: abs(round - (lost or 0)))  # the round of the loss takes its place
        frames = [make_frame(_picture(dataset, row, 0), start, start)]
        frames += [make_frame(_picture(dataset, row, 1), "edited 1", "edited 1")] if has_edit else []
        for round in [lost if lost and round == nearest else round for round in rounds]:
            kept = row["quality"][round - 1] if round <= len(row["quality"]) else None
            label = f"{done} {round}" + ("" if kept is None else f", {kept:.0%} kept")
            data = _picture(dataset, row, round * len(row["cycle"]))
            frames.append(make_frame(data, label, label, round == lost))
        strips.append(Strip(dataset.display[row["editor"]], title, frames, row["verdict"], row["editor"]))
    figure, _ = draw_strips(title, strips)
    words = "; ".join(f"{strip.editor}: {strip.why}" for strip in strips)
    return Drawing(slug(f"compare {compared['source']} {compared['program']}"), title, words, figure)


def _picture(dataset: ServedDataset, row: Answer, step: int) -> bytes | None:
    try:
        return dataset.reader.picture(row["chain"], step) if step <= row["steps"] else None
    except DAMAGED_FILE:
        return None


PUBLIC = (compare,)
FIGURES = {"compare": _compare_figure}
