"""Draws the report's tables. Every figure is made from rows of the tables alone, and left out where they are empty."""

import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..palette import GRID, INK, MUTED, PAPER, Look, finish_svg
from ..study.display_names import display_names
from ..study.tables import Table, capitalised, format_value

Rows = Sequence[Mapping[str, Any]]
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 5.2  # inches at 72 units each: a phone shows the whole figure, a desk two beside each other
MOST_BANDS = 6  # editors in one panel; the bands of more lie on each other
SHARP = 216  # dots an inch in the PNGs: three times the size on a page
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "svg.fonttype": "none",
    "text.parse_math": False,  # an editor may be called anything
    "svg.hashsalt": "convergebench",
    "axes.edgecolor": MUTED.light,
    "axes.labelcolor": INK.light,
    "axes.titlecolor": INK.light,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID.light,
    "grid.linewidth": 0.8,
    "text.color": INK.light,
    "xtick.color": MUTED.light,
    "ytick.color": MUTED.light,
    "xtick.labelcolor": INK.light,
    "ytick.labelcolor": INK.light,
    "legend.frameon": False,
    "figure.facecolor": PAPER.light,
    "axes.facecolor": PAPER.light,
    "savefig.transparent": False,
}


class FigureContext(NamedTuple):
    """What a statistic's figures are drawn with; in a section of a group, the rows are that group's."""

    tables: Mapping[str, Table]  # of all statistics
    looks: Mapping[str, Look]  # of every editor
    group: str  # the group of the section; elsewhere the first group
    is_first_group: bool


@dataclass(frozen=True)
class Drawing:
    """A figure with what a reader who does not see it is told; the last is the caption."""

    name: str
    title: str
    description: str
    figure: "Figure"
    table: str = ""  # the table that it was drawn from

    @cached_property
    def matplotlib_svg(self) -> str:
        """Straight through the backend: `savefig` would lay out and draw everything once more."""
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        for patch in (self.figure.patch, *(axes.patch for axes in self.figure.axes)):
            patch.set_visible(False)
        buffer = io.StringIO()
        with house_style():
            FigureCanvasSVG(self.figure).print_svg(buffer, metadata={"Date": None})
        self.figure.patch.set_visible(True)
        self.figure.set_layout_engine("none")  # the PNG keeps this layout
        return buffer.getvalue()

    def svg(self, alone: bool = True) -> str:
        words = html.escape(self.title), html.escape(self.description)
        return finish_svg(self.matplotlib_svg, self.name, *words, alone)

    def pdf(self) -> bytes:
        """For a paper; its layout is that of the SVG, which is made first."""
        from matplotlib.backends.backend_pdf import FigureCanvasPdf

        buffer = io.BytesIO()
        with house_style():
            FigureCanvasPdf(self.figure).print_pdf(buffer, metadata={"CreationDate": None, "Producer": None})
        return buffer.getvalue()

    def png(self) -> bytes:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        buffer = io.BytesIO()
        self.figure.set_dpi(SHARP)
        FigureCanvasAgg(self.figure).print_png(buffer, metadata={"Software": None})
        return buffer.getvalue()


def house_style() -> Any:
    """Within this, everything is drawn in the house's style."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def new_figure(rows: int = 1, columns: int = 1, height: float = 3.4, width: float = WIDTH, **options: Any) -> Any:
    """A figure and its axes, to be drawn in the house's style."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def draw_lines(
    axes: "Axes",
    rows: Sequence[Mapping[str, Any]],
    looks: Mapping[str, Look],
    medians: bool = False,
    share: bool = False,
    bands: bool = True,
) -> None:
    """A line per editor with its band; medians are dotted. Shares go down in steps, from all before the first round."""
    from matplotlib.ticker import MaxNLocator

    step: Literal["post"] | None = "post" if share else None
    for editor, look in looks.items():
        own = [row for row in rows if row["editor"] == editor]
        if not own:
            continue
        start = [{"round": 0, "mean": 1.0, "mean_low": 1.0, "mean_high": 1.0}] if share else []
        points = [*start, *own]
        axes.plot([row["round"] for row in points], [row["mean"] for row in points], color=look.colour, ls=look.dash,
                  lw=look.width, marker=look.marker, ms=5, markevery=(len(start), max(1, len(own) // 10)), label=editor,
                  clip_on=False, zorder=3, drawstyle=f"steps-{step}" if step else "default")  # fmt: skip
        known = [row for row in points if row["mean_low"] is not None]
        if bands and known and not (share and look.is_reference):
            low, high = [row["mean_low"] for row in known], [row["mean_high"] for row in known]
            at = [row["round"] for row in known]
            axes.fill_between(at, low, high, color=look.colour, alpha=0.13, lw=0, step=step)
        if medians:
            axes.plot([row["round"] for row in own], [row["median"] for row in own], color=look.colour, ls=":", lw=1)
    axes.set_xlabel("round")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    first, last = 0 if share else 1, max((row["round"] for row in rows), default=None)
    axes.set_xlim(*((first - 0.5, first + 0.5) if last == first else (first, last)))


def set_unit_scale(axes: "Axes", share: bool = False) -> None:
    """The scale from 0 to 1, with half of it marked."""
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "½", "", "1"] if not share else ["0%", "", "50%", "", "100%"])
    axes.axhline(0.5, color=MUTED.light, lw=0.8, ls=(0, (2, 2)), zorder=1)


def add_legend(figure: "Figure", axes: "Axes", columns: int = 2) -> None:
    """One legend over all panels, editors with the names that readers know."""
    handles, labels = axes.get_legend_handles_labels()
    names = display_names(labels)
    figure.legend(
        handles,
        [names[label] for label in labels],
        loc="outside upper left",
        ncols=min(columns, len(labels)),
        handlelength=2.6,
    )


def label_ends(axes: "Axes", rows: Rows, looks: Mapping[str, Look]) -> None:
    """Each editor's name at the end of its line; names that would lie on each other are moved apart."""
    last = {row["editor"]: row for row in rows if row["mean"] is not None}
    ends = sorted((row["mean"], editor) for editor, row in last.items() if editor in looks)
    places = [value for value, _ in ends]
    gap = min(0.062, 1.02 / max(len(places), 1))
    for _ in range(200):
        for low in range(len(places) - 1):
            over = gap - (places[low + 1] - places[low])
            if over > 0:
                places[low], places[low + 1] = places[low] - over / 2, places[low + 1] + over / 2
        if places:
            places[0], places[-1] = max(places[0], 0.0), min(places[-1], 1.02)
    names = display_names(looks)
    for (value, editor), place in zip(ends, places, strict=True):
        axes.annotate(names[editor], (last[editor]["round"], value), (12, (place - value) * 190), va="center",
                      fontsize=9, textcoords="offset points", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": looks[editor].colour, "lw": 0.7, "relpos": (0, 0.5),
                                  "shrinkA": 1})  # fmt: skip


def last_values(rows: Sequence[Mapping[str, Any]], form: str = "share") -> str:
    """The last value of each editor, in words."""
    last = {row["editor"]: row for row in rows}
    words = [f"{editor} {format_value(row['mean'], form)} after round {row['round']}" for editor, row in last.items()]
    return "; ".join(words) + "."


def one_panel(
    name: str, rows: Rows, looks: Mapping[str, Look], title: str, metric: str, share: bool = False
) -> Drawing | None:
    """One metric on the scale from 0 to 1, large; `metric` is what it is called."""
    if not rows:
        return None
    figure, axes = new_figure(height=3.36)
    editors = {row["editor"] for row in rows}
    draw_lines(axes[0, 0], rows, looks, share=share, bands=len(editors) <= MOST_BANDS)
    set_unit_scale(axes[0, 0], share=share)
    axes[0, 0].set_ylabel("share of tests" if share else "retained quality")
    label_ends(axes[0, 0], rows, looks)
    return Drawing(name, title, f"{capitalised(metric)}: {last_values(rows)}", figure)


def small_panels(
    name: str,
    parts: Mapping[str, Sequence[Mapping[str, Any]]],
    looks: Mapping[str, Look],
    title: str,
    medians: bool = False,
    share: bool = False,
) -> Drawing | None:
    """Small multiples that share their scale, two a row."""
    filled = {label: rows for label, rows in parts.items() if rows}
    if not filled:
        return None
    height = -(-len(filled) // 2)
    figure, grid = new_figure(height, 2, 0.9 + 1.7 * height, sharey=True)
    for axes, (label, rows) in zip(grid.flat, filled.items(), strict=False):
        draw_lines(axes, rows, looks, medians, share, bands=not share)
        set_unit_scale(axes, share)
        axes.set_title(label)
    for axes in list(grid.flat)[len(filled) :]:
        axes.set_visible(False)
    add_legend(figure, grid.flat[0])
    text = " ".join(f"{label}: {last_values(rows)}" for label, rows in filled.items())
    return Drawing(name, title, text, figure)
