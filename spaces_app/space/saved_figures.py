"""Figures of the Space as files for print, drawn as the report's are."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from convergebench.generation.records import FinishedChain

from ..analysis.display_names import display_names
from ..palette import MARKERS, MUTED, SERIES, Look
from ..reporting.figures import (
    Drawing,
    Rows,
    draw_lines,
    house_style,
    label_ends,
    last_values,
    new_figure,
    set_unit_scale,
)
from .headline import HALF
from .previews import previews_of
from .served_dataset import DAMAGED_FILE, NoPicture, ServedDataset

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_COLUMNS = 7  # rounds beside the original


def curves_over_rounds(dataset: ServedDataset, metric: str, title: str, rows: Rows) -> Drawing:
    """A metric over rounds, a line with its band for each editor."""
    return _lines(f"curves-{_plain(metric)}", title, rows, dataset.looks, _is_share(metric))


def metrics_over_rounds(dataset: ServedDataset, chain: FinishedChain, rows: Rows) -> Drawing:
    """One chain through all metrics, a line for each."""
    looks = {}
    for place, name in enumerate(dict.fromkeys(row["metric"] for row in rows)):
        at = place % len(SERIES)
        is_reference = "no reference" in name
        looks[name] = Look(SERIES[at].light, MARKERS[at], "--" if is_reference else "-", 2.0, is_reference, at)
    curves = [
        {"editor": row["metric"], "round": row["round"], "mean": row["value"], "mean_low": None, "mean_high": None}
        for row in rows
        if row["value"] is not None
    ]
    name = f"All metrics of {dataset.display[chain.editor]} on {dataset.title(chain.source.id)}"
    return _lines(f"metrics-{chain.id}", name, curves, looks, True)


def _lines(name: str, title: str, rows: Rows, looks: Mapping[str, Look], share: bool) -> Drawing:
    with house_style():
        figure, grid = new_figure(height=4.2)
        axes = grid[0, 0]
        drawn = {line: look for line, look in looks.items() if any(row["editor"] == line for row in rows)}
        draw_lines(axes, rows, drawn, share=name == "curves-kept", bands=len(drawn) <= 6)
        if share:
            set_unit_scale(axes, share=True)
            label_ends(figure, axes, rows, drawn)
        else:
            names = display_names(drawn)
            axes.legend([names[line] for line in drawn], loc="best")
        axes.set_title(title[:1].upper() + title[1:])
        return _finished(Drawing(name, title, last_values(rows), figure))


def _is_share(metric: str) -> bool:
    return metric in ("kept", "quality") or metric.startswith("retained ")


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def cost_against_rounds(dataset: ServedDataset, rows: Rows) -> Drawing:
    """Rounds survived against the cost of a round, an editor a point with its limits."""
    priced = [row for row in rows if row["cost"] is not None and row["rounds_kept"] is not None]
    title = "Rounds survived against the cost of a round"
    with house_style():
        figure, grid = new_figure(height=4.2)
        axes = grid[0, 0]
        for row in priced:
            look, kept = dataset.looks[row["editor"]], row["rounds_kept"]
            if row["rounds_kept_low"] is not None and row["rounds_kept_high"] is not None:
                axes.vlines(row["cost"], row["rounds_kept_low"], row["rounds_kept_high"], color=look.colour, lw=1.2)
            axes.plot([row["cost"]], [kept], look.marker, color=look.colour, ms=7)
            axes.annotate(dataset.display[row["editor"]], (row["cost"], kept), (7, 0), textcoords="offset points")
        axes.set_xlabel("US dollars a round")
        axes.set_ylabel("rounds survived")
        axes.set_ylim(0)
        axes.set_xlim(0)
        axes.set_title(title)
        words = "; ".join(f"{row['editor']} {row['rounds_kept']:.1f} for ${row['cost']:.3f}" for row in priced)
        return _finished(Drawing("cost-against-rounds", title, words, figure))


def compared_pictures(dataset: ServedDataset, compared: Mapping[str, Any]) -> Drawing:
    """Editors as rows and rounds as columns, each with its picture and what it retained."""
    rows = compared["rows"]
    cycle = rows[0]["cycle"]
    rounds = max(row["rounds"] for row in rows)
    columns = [("original", 0, 0), *([("edited 1", 0, 1)] if len(cycle) > 1 else [])]
    columns += [(f"undone {round}", round, round * len(cycle)) for round in _spread(rounds)]
    title = f"{' / '.join(cycle)}: {dataset.title(compared['source'])}"
    with house_style():
        figure, grid = new_figure(len(rows), len(columns), 1.0 + 1.35 * len(rows))
        figure.set_figwidth(1.1 + 1.2 * len(columns))
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        for line, row in enumerate(rows):
            for place, (label, round, step) in enumerate(columns):
                axes = grid[line, place]
                _show(axes, dataset, row, step)
                if line == 0:
                    axes.set_title(label, fontsize=9.5)
                quality = row["quality"][round - 1] if 0 < round <= len(row["quality"]) else None
                if quality is not None:
                    axes.set_xlabel(f"{quality:.0%}", color="#b84900" if quality < HALF else MUTED.light, fontsize=9.5)
            ended = f"lost in round {row['lost_at']}" if row["lost_at"] else "survived" if row["kept"] else ""
            grid[line, 0].set_ylabel(f"{dataset.display[row['editor']][:22]}\n{ended}", fontsize=9.5)
        name = f"compare-{_plain(compared['source'])}-{_plain(compared['program'])}"
        words = "; ".join(f"{dataset.display[row['editor']]}: {row['clause'] or 'not lost'}" for row in rows)
        return _finished(Drawing(name, title, words, figure))


def _spread(last: int) -> Sequence[int]:
    """Rounds from the first to the last, as many as there is room for."""
    count = min(last, _MOST_COLUMNS)
    if count == 1:
        return [last]
    return list(dict.fromkeys(round(1 + place * (last - 1) / (count - 1)) for place in range(count)))


def _show(axes: "Axes", dataset: ServedDataset, row: Mapping[str, Any], step: int) -> None:
    """A step's picture, or that there is none."""
    from PIL import Image

    axes.grid(False)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    try:
        path = previews_of(dataset).path(row["chain"], step, "small") if step <= row["steps"] else None
    except (NoPicture, *DAMAGED_FILE):
        path = None
    if path is None:
        axes.text(0.5, 0.5, "no picture", ha="center", va="center", fontsize=9, color=MUTED.light)
        return
    with Image.open(path) as picture:
        axes.imshow(picture)


def _finished(drawing: Drawing) -> Drawing:
    """The same with its layout made, which all forms then have."""
    _ = drawing.matplotlib_svg
    return drawing
