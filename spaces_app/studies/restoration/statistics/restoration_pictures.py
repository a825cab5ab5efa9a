"""Which restored pictures the page shows: of each degradation a typical one, as every method returned it."""

from collections import defaultdict
from dataclasses import replace
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader

from ....analysis.analysis import Analysis
from ....analysis.display_names import display_names
from ....analysis.tables import Column, Table, format_value
from ....reporting.filmstrips import Strip, make_frame
from ....statistics import OnPage, Rows
from ..prompts import choose_prompts, prompt_name
from ..restored import Restored, RestoredSet, metric_columns, metric_title, restored_sets

TITLE = "Restored pictures that the page shows"
SECTION = "Restoration"
ON_PAGE = OnPage(show=False)
MOST = 6  # degraded pictures
COLUMNS = (
    Column("picture", "Degraded picture"),
    Column("title", "Title"),
    Column("clean", "Clean picture"),
    Column("scene", "Scene"),
    Column("degradation", "Degradation"),
    Column("of_pictures", "Chosen among", "count"),
    Column("by", "By"),
    Column("editor", "Method"),
    Column("prompt", "Prompt"),
    Column("chain", "Chain"),
    Column("round", "Pass", "count"),
)


def columns(rows: Rows) -> list[Column]:
    return [*COLUMNS, *metric_columns(rows)]


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each method on each picture shown; baselines come last, as they do in the table of methods."""
    titles = {chain.source.id: chain.source.title for chain in analysis.chains}
    for each in analysis.once(restored_sets):
        if not each.name and each.metrics:  # published tables have no pictures
            return [row | {"title": titles[row["picture"]] or row["picture"]} for row in rows_of_set(each, analysis)]
    return []


def rows_of_set(each: RestoredSet, analysis: Analysis) -> list[dict[str, Any]]:
    shown = first_passes(each)
    names = display_names(each.methods)
    last = {method: analysis.roles.get(method, "editor") != "editor" for method in each.methods}
    found = []
    for picture, metric, count in typical_pictures(each, shown):
        for method in sorted(each.methods, key=lambda name: (last[name], names[name].casefold())):
            if one := shown.get((method, picture)):
                found.append(
                    {
                        **{key: getattr(one, key) for key in ("picture", "clean", "scene", "degradation", "chain")},
                        "of_pictures": count,
                        "by": metric,
                        "editor": method,
                        "prompt": prompt_name(one.prompt) or None,
                        "round": one.round if one.values else None,
                        "of": each.metrics,
                        **one.values,
                    }
                )
    return found


def first_passes(each: RestoredSet) -> dict[tuple[str, str], Restored]:
    """The first pass of the first run of each method on each picture, with the prompt that counts for it."""
    found: dict[tuple[str, str], Restored] = {}
    choices = {method: choose_prompts(each, method) for method in each.methods}
    for one in sorted(each.pictures, key=lambda one: one.run):
        if one.round == 1 and one.chain and choices[one.method].get(one.clean) == one.prompt:
            found.setdefault((one.method, one.picture), one)
    return found


def typical_pictures(each: RestoredSet, shown: dict[tuple[str, str], Restored]) -> list[tuple[str, str, int]]:
    """Of each degradation the picture in the middle, by its mean over methods in the first metric that it has.

    With the metric and the number of pictures it was chosen among. Degradations with many pictures come first.
    """
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    kinds: dict[str, str] = {}
    for (_, picture), one in shown.items():
        metric = next((name for name in each.metrics if name in one.values), None)
        if metric:
            kinds[picture] = one.degradation
            values[picture][metric].append(one.values[metric])
    groups: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for picture, by_metric in values.items():
        metric = next(name for name in each.metrics if name in by_metric)
        own = by_metric[metric]
        groups[kinds[picture], metric].append((sum(own) / len(own), picture))
    largest = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [(sorted(own)[(len(own) - 1) // 2][1], metric, len(own)) for (_, metric), own in largest[:MOST]]


def strips(table: Table, reader: Reader) -> list[Strip]:
    """A strip for each picture of the table: as it was degraded, as each method restored it, and clean."""
    lengths = {chain.id: len(chain.program.cycle) for chain in reader.chains()}
    names = display_names(row["editor"] for row in table.rows)
    found = []
    for picture in dict.fromkeys(row["picture"] for row in table.rows):
        rows = [row for row in table.rows if row["picture"] == picture]
        one, title, metric = rows[0], rows[0]["title"], metric_title(rows[0]["by"])
        frames = [make_frame(reader.picture(one["chain"], 0), "degraded", f"{title}, degraded")]
        for row in rows:
            step = (row["round"] or 0) * lengths[row["chain"]]
            data = reader.picture(row["chain"], step) if step else None
            value = format_value(row.get(row["by"]), "score")
            label = f"{names[row['editor']]}, {metric} {value}" if step else names[row["editor"]]
            frames.append(make_frame(data, label, f"{title}, as {names[row['editor']]} restored it"))
        clean = reader.reference(one["chain"])
        words = "not known" if clean is None else f"{title}, clean"
        frames.append(replace(make_frame(clean, "clean", words), words=words))
        kind = ", ".join(filter(None, (readable(one["degradation"]), one["scene"]))) or "restoration"
        among = f"the middle one of {one['of_pictures']} by {metric}" if one["of_pictures"] > 1 else "the only one"
        found.append(Strip(title, f"{kind}: {among}", tuple(frames)))
    return found


def readable(degradation: str) -> str:
    """'motion blur' for motion-blur."""
    return degradation.replace("-", " ")
