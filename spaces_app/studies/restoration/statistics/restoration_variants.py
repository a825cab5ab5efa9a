"""Pictures that words or chance restore differently: the restoration study's Figures 1 to 4."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from convergebench.dataset_builder.dataset.reader import Reader

from ....analysis.analysis import Analysis
from ....analysis.display_names import display_names
from ....analysis.tables import Table, TableRow, column, format_value, rows_of
from ....reporting.filmstrips import Strip, make_frame
from ....statistics import OnPage
from ..restored import Restored, metric_title, prompt_name, restored_sets

TITLE = "Pictures on which prompts, and runs, differ most"
SECTION = "Restoration"
ON_PAGE = OnPage(order=60, show=False)


class Row(TableRow):
    differs: str = column("What differs")
    editor: str = column("Method")
    picture: str = column("Degraded picture")
    prompt: str = column("Prompt")
    run: int = column("Run", "count")
    by: str = column("By")
    score: float = column("Score", "score")
    chain: str = column("Chain")


def rows(analysis: Analysis) -> Iterator[Row]:
    """Of each method the picture with the widest range of a metric over prompts, and over runs of a prompt."""
    table = next((table for table in analysis.once(restored_sets) if not table.name), None)
    ways: dict[tuple[str, str], dict[tuple[str, ...], list[Restored]]] = defaultdict(lambda: defaultdict(list))
    for row in table.pictures if table else ():
        if row.round == 1 and row.values and row.prompt:
            if row.run == 1:
                ways[row.method, "prompt"][row.picture,].append(row)
            ways[row.method, "run"][row.picture, row.prompt].append(row)
    for (method, differs), groups in sorted(ways.items()):
        measured = {name for group in groups.values() for row in group for name in row.values}
        metric = next(name for name in table.metrics if name in measured)  # type: ignore[union-attr]  # it has pictures
        for row in _widest(groups.values(), metric):
            name = prompt_name(row.prompt)
            yield Row(differs=differs, editor=method, picture=row.picture, prompt=name, run=row.run, by=metric,
                      score=row.values[metric], chain=row.chain)  # fmt: skip


def _widest(groups: Iterable[Sequence[Restored]], metric: str) -> list[Restored]:
    """The group with the widest range of a metric; empty if none has two values."""
    scored = [[row for row in group if metric in row.values] for group in groups]
    ranges = [np.ptp([row.values[metric] for row in group]) if group else 0.0 for group in scored]
    widest = int(np.argmax(ranges))
    return sorted(scored[widest], key=lambda row: (row.prompt, row.run)) if ranges[widest] else []


def strips(table: Table, reader: Reader) -> list[Strip]:
    rows: Sequence[Row] = rows_of({table.name: table}, Row)
    names, made = display_names(row.editor for row in rows), []
    for editor, differs in dict.fromkeys((row.editor, row.differs) for row in rows):
        part = [row for row in rows if (row.editor, row.differs) == (editor, differs)]
        frames = [make_frame(reader.picture(part[0].chain, 0), "degraded", f"{part[0].picture}, degraded")]
        for row in part:
            label = row.prompt if differs == "prompt" else f"run {row.run}"
            words = f"{label}, {metric_title(row.by)} {format_value(row.score, 'score')}"
            frames.append(make_frame(reader.picture(row.chain, 1), words, f"{row.picture} by {editor}, {label}"))
        if (clean := reader.reference(part[0].chain)) is not None:
            frames.append(make_frame(clean, "clean", f"{part[0].picture}, clean"))
        why = f"the picture on which {'prompts' if differs == 'prompt' else f'runs of {part[0].prompt}'} differ most"
        made.append(Strip(names[editor], f"{part[0].picture}: {why}", frames))
    return made
