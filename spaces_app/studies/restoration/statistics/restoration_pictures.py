from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

from convergebench.dataset_builder.dataset.reader import Reader

from ....analysis.analysis import Analysis
from ....analysis.display_names import display_names
from ....analysis.tables import Estimate, Table, TableRow, column, columns_by_key, format_value, rows_of
from ....reporting.filmstrips import Strip, make_frame
from ....statistics import OnPage
from ..restored import Restored, RestoredSet, metric_title, prompt_name, restored_sets, score_column

TITLE = "Restored pictures that the page shows"
SECTION = "Restoration"
ON_PAGE = OnPage(show=False)
_MOST_SHOWN = 6  # degraded pictures


class Row(TableRow):
    picture: str = column("Degraded picture")
    title: str = column("Title")
    clean: str = column("Clean picture")
    scene: str = column("Scene")
    degradation: str = column("Degradation")
    of_pictures: int = column("Chosen among", "count")
    by: str = column("By")
    editor: str = column("Method")
    prompt: str | None = column("Prompt")
    chain: str = column("Chain")
    round: int | None = column("Pass", "count")
    scores: Mapping[str, Estimate] = columns_by_key(score_column)


def rows(analysis: Analysis) -> list[Row]:
    """Baselines come last, as in the table of methods."""
    table = next((table for table in analysis.once(restored_sets) if not table.name), None)
    if table is None or not table.metrics:  # published tables have no pictures
        return []
    titles = {chain.source.id: chain.source.title for chain in analysis.chains}
    names = display_names(table.methods)
    order = sorted(
        table.methods, key=lambda name: (analysis.roles.get(name, "editor") != "editor", names[name].casefold())
    )
    shown = _first_passes(table)
    return [
        Row(
            picture=picture,
            title=titles[picture] or picture,
            clean=restored.clean,
            scene=restored.scene,
            degradation=restored.degradation,
            of_pictures=count,
            by=metric,
            editor=method,
            prompt=prompt_name(restored.prompt) or None,
            chain=restored.chain,
            round=restored.round if restored.values else None,
            scores={name: Estimate(restored.values.get(name)) for name in table.metrics},
        )
        for picture, metric, count in _typical_pictures(table, shown.values())
        for method in order
        if (restored := shown.get((method, picture)))
    ]


def _first_passes(table: RestoredSet) -> dict[tuple[str, str], Restored]:
    choices = {method: table.choose_prompts(method) for method in table.methods}
    passes: dict[tuple[str, str], Restored] = {}
    for row in sorted(table.pictures, key=lambda restored: restored.run):
        if row.round == 1 and row.chain and choices[row.method].get(row.clean) == row.prompt:
            passes.setdefault((row.method, row.picture), row)
    return passes


def _typical_pictures(table: RestoredSet, shown: Iterable[Restored]) -> list[tuple[str, str, int]]:
    """The median picture of each degradation, by its mean score over methods.

    Returned with the metric and the number of pictures it was chosen from.
    """
    by_picture: dict[str, list[Restored]] = defaultdict(list)
    for restored in shown:
        if restored.values:
            by_picture[restored.picture].append(restored)
    groups: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for picture, passes in by_picture.items():
        metric = next(name for name in table.metrics if any(name in restored.values for restored in passes))
        mean = fmean(restored.values[metric] for restored in passes if metric in restored.values)
        groups[passes[0].degradation, metric].append((mean, picture))
    largest = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))[:_MOST_SHOWN]
    return [(sorted(means)[(len(means) - 1) // 2][1], metric, len(means)) for (_, metric), means in largest]


def strips(table: Table, reader: Reader) -> list[Strip]:
    lengths = {chain.id: len(chain.program.cycle) for chain in reader.chains()}
    rows = rows_of({table.name: table}, Row)
    names = display_names(row.editor for row in rows)
    strips = []
    for picture in dict.fromkeys(row.picture for row in rows):
        picture_rows = [row for row in rows if row.picture == picture]
        first = picture_rows[0]
        frames = [make_frame(reader.picture(first.chain, 0), "degraded", f"{first.title}, degraded")]
        for row in picture_rows:
            method, picture_bytes = names[row.editor], None
            label = method
            if row.round is not None:
                label = f"{method}, {metric_title(row.by)} {format_value(row.scores[row.by].value, 'score')}"
                picture_bytes = reader.picture(row.chain, row.round * lengths[row.chain])
            frames.append(make_frame(picture_bytes, label, f"{row.title}, as {method} restored it"))
        clean = reader.reference(first.chain)
        words = "not known" if clean is None else f"{first.title}, clean"
        frames.append(make_frame(clean, "clean", words) | {"words": words})
        kind = ", ".join(filter(None, (first.degradation.replace("-", " "), first.scene))) or "restoration"
        choice = f"the median of {first.of_pictures} by {metric_title(first.by)}"
        why = choice if first.of_pictures > 1 else "the only one"
        strips.append(Strip(first.title, f"{kind}: {why}", frames))
    return strips
