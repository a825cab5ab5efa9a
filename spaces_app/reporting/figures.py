"""Draws the report's figures, from rows of its tables alone."""

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
from ..analysis.tables import Estimate, Table, capitalised, format_value
from ..palette import GRID, INK, MUTED, PAPER, Look, dark_rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..statistics.curves import CurveRow

FORMS = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}  # of the files of a drawing
SMALL = 9.3  # the smallest letters: 12 pixels in the narrowest figure
_WIDTH = 5.2  # inches at 72 units each: a desktop shows two figures side by side
_LETTERS = 10
_LEGEND_LINE = 0.23  # inches
_LONGEST_OF_TWO = 23  # letters of a name, if two stand side by side in a legend
_NAMED = 5  # editors with a colour, a band and a name in one panel; the others are grey lines
_WIDE = 900  # pixels, of a drawing in a file of its own
_SHARP = 216  # dots an inch in the PNGs: three times the size on a page
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": _LETTERS,
    "svg.fonttype": "none",
    "text.parse_math": False,  # an editor may be called anything
    "svg.hashsalt": "convergebench",
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "savefig.transparent": False,
    **dict.fromkeys(("figure.facecolor", "axes.facecolor"), PAPER),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), MUTED),
    **dict.fromkeys(("axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK),
    **dict.fromkeys(("axes.titlecolor", "text.color"), INK),
}
_GREY = Look("#98a1ad", "", "-", 1.0, False, 0)


class FigureContext(NamedTuple):
    tables: Mapping[str, Table]  # of all statistics
    looks: Mapping[str, Look]  # of every editor
    group: str  # the group of the section; elsewhere the first group
    is_first_group: bool
    stamp: str = ""


@dataclass(frozen=True)
class Drawing:
    name: str
    title: str
    description: str
    figure: "Figure"
    table: str = ""  # the table that it was drawn from
    stamp: str = ""  # whose figure it is, of which version and day: printed in its corner

    @cached_property
    def _plain_svg(self) -> str:
        svg = self._save("svg", metadata={"Date": None}, transparent=True).decode()
        body = svg[svg.index("<svg") :].replace("'DejaVu Sans'", _FONT).replace('"DejaVu Sans"', _FONT)
        body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
        body = re.sub(r'\bid="', f'id="{self.name}-', body)
        return re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{self.name}-", body)

    def svg(self, alone: bool = True) -> str:
        """With ids of its own and words for a screen reader; if it is `alone`, with the dark colours."""
        name, opening, rest = self.name, *self._plain_svg.split(">", 1)
        head = f'<title id="{name}-title">{html.escape(self.title)}</title>'
        head += f'<desc id="{name}-desc">{html.escape(self.description)}</desc>'
        size = re.compile(r' width="([\d.]+)pt" height="([\d.]+)pt"')
        width, height = map(float, size.search(opening).groups())  # type: ignore[union-attr]  # matplotlib writes both
        pixels = f' width="{_WIDE}" height="{_WIDE * height / width:.0f}"' if alone else ""
        opening = f'{size.sub(pixels, opening)} role="img" aria-labelledby="{name}-title {name}-desc">'
        return opening + head + (f"<style>{dark_rules()}</style>" if alone else "") + rest

    def file(self, form: str) -> bytes:
        if form == "svg":
            return self.svg().encode()
        if form == "pdf":
            return self._save("pdf", metadata={"CreationDate": None, "Producer": None})
        return self._save("png", metadata={"Software": None}, dpi=_SHARP, pil_kwargs={"compress_level": 3})

    def _save(self, form: str, **options: Any) -> bytes:
        buffer = io.BytesIO()
        with house_style():
            if layout := self.figure.get_layout_engine():
                if self.stamp:
                    self.figure.set_figheight(self.figure.get_figheight() + _LEGEND_LINE)
                    self.figure.supxlabel(self.stamp, x=0.995, ha="right", fontsize=SMALL, color=MUTED)
                # Once for all forms; `savefig` would draw everything to lay it out, and then again.
                layout.execute(self.figure)
                self.figure.set_layout_engine(None)
            self.figure.savefig(buffer, format=form, **options)
        return buffer.getvalue()


def house_style() -> Any:
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def new_figure(rows: int = 1, columns: int = 1, height: float = 3.4, **options: Any) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def new_panels(
    count: int, margin: float, height: float, across: int = 2, **options: Any
) -> tuple["Figure", "list[Axes]"]:
    """So many panels a row; `height` is that of a row, in inches."""
    rows = -(-count // across)
    figure, grid = new_figure(rows, min(count, across), margin + height * rows, **options)
    for axes in grid.flat[count:]:
        axes.set_visible(False)
    return figure, list(grid.flat[:count])


def draw_lines(
    axes: "Axes",
    rows: Sequence["CurveRow"],
    looks: Mapping[str, Look],
    medians: bool = False,
    share: bool = False,
    raw: bool = False,
) -> None:
    """The first five editors of `looks` with their bands, the others in grey; baselines without bands.

    Medians are dotted; shares go down in steps, from all
    before the first round. What is not `raw` is from 0 to 1.
    """
    drawn = {row.editor for row in rows}
    others = [name for name, look in looks.items() if name in drawn and not look.is_reference][_NAMED:]
    for editor, look in looks.items():
        if curve := [row for row in rows if row.editor == editor]:
            if editor in others:
                label = f"{len(others)} others" if editor == others[0] else "_"
                _draw_line(axes, curve, _GREY, share, with_band=False, label=label)
                continue
            _draw_line(axes, curve, look, share, with_band=not look.is_reference, label=editor)
            if medians:
                values = np.array([row.median for row in curve], float)
                axes.plot([row.round for row in curve], values, color=look.colour, ls=":", lw=1)
    _label_axes(axes, max((row.round for row in rows), default=None), share, raw)


def _label_axes(axes: "Axes", last: int | None, share: bool, raw: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel("round")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    first = 0 if share else 1
    axes.set_xlim(*((first - 0.5, first + 0.5) if last == first else (first, last)))
    if not raw:
        axes.set_ylim(0, 1.02)
        axes.set_yticks(
            [0, 0.25, 0.5, 0.75, 1], ["0%", "", "50%", "", "100%"] if share else ["0", "", "½", "", "1"]
        )
        axes.axhline(0.5, color=MUTED, lw=0.8, ls=(0, (2, 2)), zorder=1)


def _draw_line(
    axes: "Axes", curve: Sequence["CurveRow"], look: Look, share: bool, with_band: bool, label: str
) -> None:
    step: Literal["post"] | None = "post" if share else None
    start = [(0, Estimate(1.0, 1.0, 1.0))] if share else []
    points = start + [(row.round, row.mean) for row in curve]
    rounds, means = [round for round, _ in points], [mean.value for _, mean in points]
    axes.plot(rounds, means, **look.line, ms=5, markevery=(len(start), max(1, len(curve) // 10)),
              label=label, clip_on=False, zorder=3,
              drawstyle=f"steps-{step}" if step else "default")  # fmt: skip
    band = [(round, mean) for round, mean in points if mean.low is not None]
    if with_band and band:
        low, high = np.array([[mean.low, mean.high] for _, mean in band], float).T
        axes.fill_between(
            [round for round, _ in band], low, high, color=look.colour, alpha=0.11, lw=0.8, step=step
        )


def add_legend(figure: "Figure", axes: "Axes") -> None:
    handles, labels = axes.get_legend_handles_labels()
    names = figure_names(labels)
    shown = [names[label] for label in labels]
    columns = 2 if max(map(len, shown), default=0) < _LONGEST_OF_TWO else 1
    lines = -(-sum(name.count("\n") + 1 for name in shown) // columns)
    figure.set_figheight(figure.get_figheight() + max(lines - 3, 0) * _LEGEND_LINE)
    figure.legend(handles, shown, loc="outside upper left", ncols=columns, handlelength=2.6)


def figure_names(labels: Iterable[str], panels: int = 1) -> dict[str, str]:
    width = LONGEST if panels == 1 else 48 // panels
    return {label: textwrap.fill(name, width) for label, name in display_names(labels).items()}


def _last_values(rows: Sequence["CurveRow"], raw: bool) -> str:
    last, form = {row.editor: row for row in rows}, "number" if raw else "share"
    ends = [f"{name} {format_value(row.mean.value, form)} after round {row.round}" for name, row in last.items()]
    return "; ".join(ends) + "."


def one_panel(
    name: str,
    rows: Sequence["CurveRow"],
    looks: Mapping[str, Look],
    title: str,
    metric: str,
    share: bool = False,
    raw: bool = False,
) -> Drawing | None:
    if not rows:
        return None
    figure, grid = new_figure(height=3.36)
    axes = grid[0, 0]
    draw_lines(axes, rows, looks, share=share, raw=raw)
    axes.set_ylabel(metric if raw else "share of tests" if share else "retained quality")
    add_legend(figure, axes)
    return Drawing(name, title, f"{capitalised(metric)}: {_last_values(rows, raw)}", figure)


def small_panels(
    name: str,
    parts: "Mapping[str, Sequence[CurveRow]]",
    looks: Mapping[str, Look],
    title: str,
    medians: bool = False,
    share: bool = False,
    raw: bool = False,
) -> Drawing | None:
    filled = {label: rows for label, rows in parts.items() if rows}
    if not filled:
        return None
    figure, panels = new_panels(len(filled), 0.9, 1.7, sharey=not raw)
    for axes, (label, rows) in zip(panels, filled.items(), strict=True):
        draw_lines(axes, rows, looks, medians, share, raw)
        axes.set_title(label)
    add_legend(figure, panels[0])
    text = " ".join(f"{label}: {_last_values(rows, raw)}" for label, rows in filled.items())
    return Drawing(name, title, text, figure)
