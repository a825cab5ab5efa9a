"""Figures of the Space as files, drawn as the report's are."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from convergebench.generation.records import UserError

from ..analysis.cases import spread_rounds
from ..analysis.display_names import display_names
from ..palette import MUTED
from ..reporting.figures import (
    Drawing,
    add_legend,
    draw_lines,
    house_style,
    last_values,
    new_figure,
    set_unit_scale,
)
from ..statistics.curves import CurveRow
from .headline import HALF
from .previews import decode, previews_of
from .served_dataset import DAMAGED_FILE, Answer, ServedDataset

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOST = "#b84900"  # as --cb-bad on the page
_MOST_ROUNDS = 7  # in a grid of pictures
_MOST_BANDS = 6  # with more lines, bands would hide each other


def curves_over_rounds(dataset: ServedDataset, metric: str, title: str, rows: Sequence[CurveRow]) -> Drawing:
    """A metric over rounds, a line with its band for each editor."""
    editors = {row.editor for row in rows}
    looks = {name: look for name, look in dataset.looks.items() if name in editors}
    with house_style():
        figure, grid = new_figure(height=4.2)
        axes = grid[0, 0]
        draw_lines(axes, rows, looks, share=metric == "kept", bands=len(looks) <= _MOST_BANDS)
        if metric in ("kept", "quality") or metric.startswith("retained "):
            set_unit_scale(axes, share=True)
            add_legend(figure, axes)
        else:
            axes.legend(list(display_names(looks).values()), loc="best")
        axes.set_title(title[:1].upper() + title[1:])
        return Drawing(f"curves-{_plain(metric)}", title, last_values(rows), figure)


def compared_pictures(dataset: ServedDataset, compared: Answer) -> Drawing:
    """Editors as rows and rounds as columns, each with its picture and what it retained."""
    rows, cycle = compared["rows"], compared["rows"][0]["cycle"]
    shown = [("original", 0, 0), *([("edited 1", 0, 1)] if len(cycle) > 1 else [])]
    rounds = spread_rounds(max(row["rounds"] for row in rows), _MOST_ROUNDS)
    shown += [(f"undone {round}", round, round * len(cycle)) for round in rounds]
    title = f"{' / '.join(cycle)}: {dataset.title(compared['source'])}"
    with house_style():
        figure, grid = new_figure(len(rows), len(shown), 1.0 + 1.35 * len(rows))
        figure.set_figwidth(1.1 + 1.2 * len(shown))
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        for line, row in enumerate(rows):
            for axes, (label, round, step) in zip(grid[line], shown, strict=True):
                _show(axes, dataset, row, step)
                if line == 0:
                    axes.set_title(label, fontsize=9.5)
                quality = row["quality"][round - 1] if 0 < round <= len(row["quality"]) else None
                if quality is not None:
                    axes.set_xlabel(f"{quality:.0%}", color=_LOST if quality < HALF else MUTED.light, fontsize=9.5)
            ended = f"lost in round {row['lost_at']}" if row["lost_at"] else "survived" if row["kept"] else ""
            grid[line, 0].set_ylabel(f"{dataset.display[row['editor']][:22]}\n{ended}", fontsize=9.5)
        name = f"compare-{_plain(compared['source'])}-{_plain(compared['program'])}"
        words = "; ".join(f"{dataset.display[row['editor']]}: {row['clause'] or 'not lost'}" for row in rows)
        return Drawing(name, title, words, figure)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "-", name)


def _show(axes: "Axes", dataset: ServedDataset, row: Answer, step: int) -> None:
    axes.grid(False)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    try:
        path = previews_of(dataset).path(row["chain"], step, "small")
    except (UserError, *DAMAGED_FILE):
        axes.text(0.5, 0.5, "no picture", ha="center", va="center", fontsize=9, color=MUTED.light)
    else:
        axes.imshow(decode(path.read_bytes()))
