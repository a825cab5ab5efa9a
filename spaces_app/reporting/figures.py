"""Draws the report's tables. Every figure is made from rows of the tables alone, and left out if they are empty."""

import html
import io
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..analysis.display_names import LONGEST, display_names
from ..analysis.round_curves import CurveRow
from ..analysis.tables import Estimate, Table, capitalised, format_value
from ..palette import GRID, INK, MUTED, PAPER, Look, finish_svg

Rows = Sequence[Mapping[str, Any]]
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL = 9.3  # the smallest letters: 12 pixels on a page just wide enough for two figures side by side
_WIDTH = 5.2  # inches at 72 units each: a desktop shows two figures side by side
_NARROW = 4.45  # inches of a phone's figures, whose letters have 12 pixels on a page 360 pixels wide
_NARROW_LINE = 38  # letters in a line of these
_NARROW_NAME = 24  # letters in a line of a name at the end of a curve
_LINE, _LEGEND_LINE = 1.2, 1.66  # heights of a letter
_BELOW = 5.2  # heights of a letter: everything below a panel, with its margins
_MOST_BANDS = 6  # editors in one panel; with more, bands would hide each other
_SHARP = 216  # dots an inch in the PNGs: three times the size on a page
_STYLE = {
    "figure.figsize": (_WIDTH, 3.4),
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
_NARROW_STYLE: dict[str, Any] = {"figure.figsize": (_NARROW, 3.4), "font.size": 12.5, "axes.titlesize": 12.5}


class FigureContext(NamedTuple):
    """What a statistic's figures are drawn with; in a section of a group, the rows are that group's."""

    tables: Mapping[str, Table]  # of all statistics
    looks: Mapping[str, Look]  # of every editor
    group: str  # the group of the section; elsewhere the first group
    is_first_group: bool


@dataclass(frozen=True)
class Drawing:
    """A figure, its caption, and a description for readers who do not see it."""

    name: str
    title: str
    description: str
    figure: "Figure"
    table: str = ""  # the table that it was drawn from
    narrow: "Figure | None" = None  # the same for a phone

    @cached_property
    def matplotlib_svg(self) -> str:
        """What `_print_svg` gives for the figure."""
        return _print_svg(self.figure)

    def svg(self, alone: bool = True) -> str:
        words = html.escape(self.title), html.escape(self.description)
        return finish_svg(self.matplotlib_svg, self.name, *words, alone)

    def narrow_svg(self) -> str:
        """The phone's figure for a page, if there is one."""
        if self.narrow is None:
            return ""
        words = html.escape(self.title), html.escape(self.description)
        return finish_svg(_print_svg(self.narrow), f"{self.name}-narrow", *words, alone=False)

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
        self.figure.set_dpi(_SHARP)
        FigureCanvasAgg(self.figure).print_png(buffer, metadata={"Software": None})
        return buffer.getvalue()


def _print_svg(figure: "Figure") -> str:
    """Straight through the backend: `savefig` would lay out and draw everything once more."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    for patch in (figure.patch, *(axes.patch for axes in figure.axes)):
        patch.set_visible(False)
    buffer = io.StringIO()
    with house_style(narrow=figure.get_figwidth() == _NARROW):
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})
    figure.patch.set_visible(True)
    figure.set_layout_engine("none")  # the PNG keeps this layout
    return buffer.getvalue()


def house_style(narrow: bool = False) -> Any:
    """A context in which figures are drawn in the house style; for phones, with larger letters."""
    import matplotlib

    return matplotlib.rc_context(_STYLE | _NARROW_STYLE if narrow else _STYLE)


def is_narrow() -> bool:
    """Whether a phone's figure is drawn."""
    import matplotlib

    return matplotlib.rcParams["figure.figsize"][0] == _NARROW


def new_figure(rows: int = 1, columns: int = 1, height: float = 3.4, **options: Any) -> Any:
    """A figure and its axes, to be drawn in the house style; on a phone, the panels of a row are stacked."""
    import matplotlib
    from matplotlib.figure import Figure

    down, across = (rows * columns, 1) if is_narrow() else (rows, columns)
    height *= 1.15 * columns if is_narrow() and columns > 1 else 1
    figure = Figure(figsize=(matplotlib.rcParams["figure.figsize"][0], height), layout="constrained")
    return figure, figure.subplots(down, across, squeeze=False, **options).reshape(rows, columns)


def fit_to_phone(figure: "Figure") -> None:
    """Enlarges small letters, breaks long lines and removes hidden panels."""
    from matplotlib.text import Text

    least = _NARROW_STYLE["font.size"]
    for text in figure.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), least))
    shown = [axes for axes in figure.axes if axes.get_visible()]
    for axes in shown:
        axes.set_title(textwrap.fill(axes.get_title("left"), _NARROW_LINE))
        for label in (axes.xaxis.label, axes.yaxis.label):
            label.set_text(textwrap.fill(label.get_text(), _NARROW_LINE))
    if hidden := [axes for axes in figure.axes if not axes.get_visible()]:
        figure.set_figheight(figure.get_figheight() * len(shown) / len(figure.axes))
        grid = figure.add_gridspec(len(shown), 1)
        for place, axes in enumerate(shown):
            axes.set_subplotspec(grid[place])
        for axes in hidden:
            axes.remove()


def draw_lines(
    axes: "Axes",
    rows: Sequence[CurveRow],
    looks: Mapping[str, Look],
    medians: bool = False,
    share: bool = False,
    bands: bool = True,
) -> None:
    """A line per editor with its band; medians are dotted. Shares go down in steps, from all before the first round."""
    from matplotlib.ticker import MaxNLocator

    for editor, look in looks.items():
        if curve := [row for row in rows if row.editor == editor]:
            _draw_line(axes, curve, look, share, bands and not (share and look.is_reference))
            if medians:
                values = np.array([row.median for row in curve], float)
                axes.plot([row.round for row in curve], values, color=look.colour, ls=":", lw=1)
    axes.set_xlabel("round")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    first, last = 0 if share else 1, max((row.round for row in rows), default=None)
    axes.set_xlim(*((first - 0.5, first + 0.5) if last == first else (first, last)))


def _draw_line(axes: "Axes", curve: Sequence[CurveRow], look: Look, share: bool, with_band: bool) -> None:
    step: Literal["post"] | None = "post" if share else None
    start = [(0, Estimate(1.0, 1.0, 1.0))] if share else []
    points = start + [(row.round, row.mean) for row in curve]
    rounds, means = [round for round, _ in points], [mean.value for _, mean in points]
    axes.plot(rounds, means, color=look.colour, ls=look.dash, lw=look.width, marker=look.marker, ms=5,
              markevery=(len(start), max(1, len(curve) // 10)), label=curve[0].editor, clip_on=False, zorder=3,
              drawstyle=f"steps-{step}" if step else "default")  # fmt: skip
    band = [(round, mean) for round, mean in points if mean.low is not None]
    if with_band and band:
        low, high = np.array([[mean.low, mean.high] for _, mean in band], float).T
        axes.fill_between([round for round, _ in band], low, high, color=look.colour, alpha=0.13, lw=0, step=step)


def set_unit_scale(axes: "Axes", share: bool = False) -> None:
    """The scale from 0 to 1, with half of it marked."""
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "½", "", "1"] if not share else ["0%", "", "50%", "", "100%"])
    axes.axhline(0.5, color=MUTED.light, lw=0.8, ls=(0, (2, 2)), zorder=1)


def add_legend(figure: "Figure", axes: "Axes", columns: int = 2) -> None:
    """One legend over all panels, editors with the names that readers know."""
    import matplotlib

    handles, labels = axes.get_legend_handles_labels()
    names, letters = figure_names(labels), matplotlib.rcParams["font.size"]
    longest = max((len(line) for name in names.values() for line in name.split("\n")), default=1)
    wide = 72 * figure.get_figwidth() / letters
    fitting = int((wide + 1) / (0.6 * longest + 5.4))  # a sign is 0.6 of its height wide; a line's sample and the gaps
    expected = 10 * -(-len(labels) // columns)  # what the figure's height allows for
    columns = max(min(columns, fitting, len(labels)), 1)
    lines = -(-sum(name.count("\n") + 1 for name in names.values()) // columns)
    figure.set_figheight(figure.get_figheight() + max(letters * lines - expected, 0) * _LEGEND_LINE / 72)
    figure.legend(
        handles,
        [names[label] for label in labels],
        loc="outside upper left",
        ncols=columns,
        handlelength=2.6,
    )


def figure_names(labels: Iterable[str], panels: int = 1) -> dict[str, str]:
    """The names that readers know, in lines that fit a figure with this many panels in a row."""
    width = _NARROW_NAME if is_narrow() else LONGEST if panels == 1 else 48 // panels
    return {label: broken(name, width) for label, name in display_names(labels).items()}


def broken(name: str, width: int) -> str:
    """A name in lines of at most `width` characters, broken between words or parts of an id if possible.

    >>> broken("an-editor:steps=28,guidance=2.5", 20).split("\\n")
    ['an-editor:steps=28,', 'guidance=2.5']
    """
    lines = [""]
    for part in re.split(r"(?<=[ :,/])", name):
        for piece in textwrap.wrap(part, width, drop_whitespace=False) or [part]:
            if len(lines[-1] + piece.rstrip()) > width:
                lines.append("")
            lines[-1] += piece
    return "\n".join(line.strip() for line in lines)


def label_ends(figure: "Figure", axes: "Axes", rows: Sequence[CurveRow], looks: Mapping[str, Look]) -> None:
    """Each editor's name at the end of its line; names that would overlap are moved apart."""
    import matplotlib

    last = {row.editor: row for row in rows if row.mean.value is not None}
    ends = sorted((row.mean.value, editor) for editor, row in last.items() if editor in looks)
    places = [value for value, _ in ends]
    letters = matplotlib.rcParams["font.size"]
    high = 72 * figure.get_figheight() - _BELOW * letters
    names = figure_names(looks)
    lines = max((names[editor].count("\n") + 1 for _, editor in ends), default=1)
    gap = min(lines * _LINE * letters / high, 1.02 / max(len(places), 1))
    for _ in range(1000):  # enough to spread a dozen names
        for low in range(len(places) - 1):
            over = gap - (places[low + 1] - places[low])
            if over > 0:
                places[low], places[low + 1] = places[low] - over / 2, places[low + 1] + over / 2
        if places:
            places[0], places[-1] = max(places[0], 0.0), min(places[-1], 1.02)
    for (value, editor), place in zip(ends, places, strict=True):
        axes.annotate(names[editor], (last[editor].round, value), (12, (place - value) * high), va="center",
                      fontsize=letters - 0.5, textcoords="offset points", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": looks[editor].colour, "lw": 0.7, "relpos": (0, 0.5),
                                  "shrinkA": 1})  # fmt: skip


def last_values(rows: Sequence[CurveRow], form: str = "share") -> str:
    """The last value of each editor, in words."""
    last = {row.editor: row for row in rows}
    ends = [f"{editor} {format_value(row.mean.value, form)} after round {row.round}" for editor, row in last.items()]
    return "; ".join(ends) + "."


def one_panel(
    name: str, rows: Sequence[CurveRow], looks: Mapping[str, Look], title: str, metric: str, share: bool = False
) -> Drawing | None:
    """One metric on the scale from 0 to 1, large; `metric` is its name."""
    if not rows:
        return None
    editors = {row.editor for row in rows}
    names_high = (_LINE * len(editors) + _BELOW) * _NARROW_STYLE["font.size"] / 72
    figure, axes = new_figure(height=max(3.0, names_high) if is_narrow() else 3.36)
    draw_lines(axes[0, 0], rows, looks, share=share, bands=len(editors) <= _MOST_BANDS)
    set_unit_scale(axes[0, 0], share=share)
    axes[0, 0].set_ylabel("share of tests" if share else "retained quality")
    label_ends(figure, axes[0, 0], rows, looks)
    return Drawing(name, title, f"{capitalised(metric)}: {last_values(rows)}", figure)


def small_panels(
    name: str,
    parts: Mapping[str, Sequence[CurveRow]],
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
