"""Whether the numbers of tables are those of kept_numbers.json: each column's sum, and the sum of its values by place.

WRITE_NUMBERS=1 writes what the tests that run have; the change then shows in the difference.
"""

import json
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import small_dataset

KEPT = Path(__file__).with_suffix(".json")


def check(name, tables, rel=1e-6):
    """`tables` has the rows of each table; numbers in texts count too, for some are written there alone."""
    found = {}
    for table, rows in tables.items():
        for column in rows[0] if rows else ():
            values = [number for row in rows for number in _numbers(row[column])]
            if any(value not in (0, -1) for value in values):
                sums = sum(values), sum(place * value for place, value in enumerate(values, 1))
                found[f"{name}: {table}: {column}"] = [float(f"{value:.9g}") for value in sums]
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if "WRITE_NUMBERS" in os.environ:
        kept = {key: value for key, value in kept.items() if not key.startswith(f"{name}: ")} | found
        KEPT.write_text("{\n" + ",\n".join(f"{json.dumps(key)}: {kept[key]}" for key in sorted(kept)) + "\n}\n")
    kept = {key: value for key, value in kept.items() if key.startswith(f"{name}: ")}
    assert found.keys() == kept.keys()
    differing = [key for key in kept if found[key] != pytest.approx(kept[key], rel=rel, abs=1e-9)]
    assert {key: found[key] for key in differing} == {key: kept[key] for key in differing}


def _numbers(value):
    """A place without a number counts as -1, so that a value that comes or goes is seen; a word by its letters."""
    if isinstance(value, str):
        value = re.sub(r"(?<![.\w])[0-9a-f]{16}\b", "", value)  # ids of chains would drown all others
        if re.fullmatch(r"[A-Za-z_]+", value):
            return [zlib.crc32(value.encode()) % 997 / 997]
        return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", value)]
    if isinstance(value, Mapping):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, Iterable):
        return [number for part in value for number in _numbers(part)]
    return [-1.0 if value is None else float(value)]


def rows_of(tables):
    return {name: table.rows for name, table in tables.items()}


def check_study(name, tables, *studies, chains=()):
    """The rows, and how the page shows those of these studies: columns, cells, figures, strips and its first lines."""
    from convergebench.spaces_app.reporting import page
    from convergebench.spaces_app.reporting.figures import FigureContext, house_style
    from convergebench.spaces_app.statistics import find_statistics
    from convergebench.spaces_app.studies import study_modules

    keys = {key: dict.fromkeys(column for row in table.rows for column in row) for key, table in tables.items()}
    check(name, {key: [keys[key] | row for row in table.rows] for key, table in tables.items()})
    context, shown, drawn = FigureContext(tables, page.looks_of(tables), "", True), {}, {}
    for module in study_modules("page"):
        first = module.stand_in(tables, {"suite": "small"}) or {"lead": []}
        shown[module.__name__.split(".")[-2] + " first"] = [{"": [first["lead"], len(str(first["lead"]))]}]
    with house_style():
        for key, statistic in find_statistics().items():
            if any(f".studies.{study}." in statistic.__name__ for study in studies):
                table = tables[key]
                columns = [(column.shown, column.form, len(column.title)) for column in table.columns]
                shown[f"{key} columns"] = [{"": columns}]
                parts = [page._table_parts(table, statistic, "", context), table.note, len(table.note)]
                shown[key] = [{"": parts + _strips(table, statistic, chains)}]
                for drawing in page._drawings(table, statistic, "", context):
                    axes = drawing.figure.axes
                    places = []
                    for part in axes:
                        grid = part.get_subplotspec().get_geometry()
                        places.append([*grid, *part.get_xticks(), *part.get_yticks()])
                    widths = [line.get_linewidth() for part in axes for line in part.lines]
                    bands = [band for part in axes for band in part.collections]
                    arrays = [() if (part := band.get_array()) is None else part for band in bands]
                    cells = [np.ma.filled(part, -1).ravel() for part in arrays]
                    looks = [(band.get_alpha() or 1, band.get_clim()) for band in bands]
                    drawn[drawing.name] = [{"": [of_figure(drawing), places, widths, looks, cells]}]
    check(f"{name}, shown", shown)
    check(f"{name}, drawn", drawn)


def _strips(table, statistic, chains):
    """What is said under the pictures, and which pictures they are; every other chain has a reference."""
    if not chains or not hasattr(statistic, "strips"):
        return []
    order, asked = {chain.id: place for place, chain in enumerate(chains)}, []
    picture = small_dataset.picture(1, side=8)
    reader = SimpleNamespace()
    reader.chains = lambda: chains
    reader.picture = lambda chain, step: asked.append((order[chain], step))
    reader.reference = lambda chain: picture if order[chain] % 2 else None
    strips = statistic.strips(table, reader)
    frames = [(frame["label"], frame["words"]) for strip in strips for frame in strip.frames]
    return [
        asked,
        frames,
        [len(label + words) for label, words in frames],
        [len(strip.title) for strip in strips],
    ]


def of_figure(drawing):
    """What a figure shows: its lines, bars, bands and words, and where its axes end."""
    parts = [drawing.description, *drawing.figure.get_size_inches()]
    for axes in drawing.figure.axes:
        parts += [line.get_xydata() for line in axes.lines] + [bar.get_bbox().bounds for bar in axes.patches]
        parts += [path.vertices for band in axes.collections for path in band.get_paths()]
        parts += [axes.get_xlim(), axes.get_ylim()]
        parts += [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()]
        parts += [text.get_text() for text in (*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels())]
    return [part if isinstance(part, str | float) else np.nan_to_num(part).ravel() for part in parts]
