"""Draws the report's tables. Every figure is made from rows of the tables alone, and left out where they are empty."""

import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ..palette import DASHES, GRID, INK, MARKERS, MUTED, PAPER, SERIES, tidied
from ..statistics.curves import NAMES
from ..study.tables import format_value, sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.2  # inches at 72 units each: small enough to read on a phone
SHARP = 160  # dots an inch in the PNGs
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


@dataclass(frozen=True)
class Look:
    """How an editor is drawn everywhere: reference rows are thin and dashed."""

    colour: str
    marker: str
    dash: Any
    width: float
    apart: bool


@dataclass(frozen=True)
class Drawing:
    """A figure with what a reader who does not see it is told; the last is the caption."""

    name: str
    title: str
    description: str
    figure: "Figure"

    @cached_property
    def drawn(self) -> str:
        """Straight through the backend: `savefig` would lay out and draw everything once more."""
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        for patch in (self.figure.patch, *(axes.patch for axes in self.figure.axes)):
            patch.set_visible(False)
        buffer = io.StringIO()
        with styled():
            FigureCanvasSVG(self.figure).print_svg(buffer, metadata={"Date": None})
        self.figure.patch.set_visible(True)
        self.figure.set_layout_engine("none")  # the PNG keeps this layout
        return buffer.getvalue()

    def svg(self, alone: bool = True) -> str:
        words = html.escape(self.title), html.escape(self.description)
        return tidied(self.drawn, self.name, *words, alone)

    def png(self) -> bytes:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        buffer = io.BytesIO()
        self.figure.set_dpi(SHARP)
        FigureCanvasAgg(self.figure).print_png(buffer, metadata={"Software": None})
        return buffer.getvalue()


def styled() -> Any:
    """Within this, everything is drawn in the house's style."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def looks(editors: Sequence[str], references: Sequence[str]) -> dict[str, Look]:
    """One look for each editor, the same in all figures."""
    found = {}
    for place, editor in enumerate([*editors, *references]):
        colour = SERIES[place % len(SERIES)].light
        apart = editor in references
        dash = DASHES[(place - len(editors)) % len(DASHES)] if apart else "-"
        found[editor] = Look(colour, MARKERS[place % len(MARKERS)], dash, 1.5 if apart else 2.2, apart)
    return found


def blank(rows: int = 1, columns: int = 1, height: float = 3.4, width: float = WIDTH, **options: Any) -> Any:
    """A figure and its axes, to be drawn in the house's style."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def lines(
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
        drawn = [*start, *own]
        axes.plot([row["round"] for row in drawn], [row["mean"] for row in drawn], color=look.colour, ls=look.dash,
                  lw=look.width, marker=look.marker, ms=5, markevery=(len(start), max(1, len(own) // 10)), label=editor,
                  clip_on=False, zorder=3, drawstyle=f"steps-{step}" if step else "default")  # fmt: skip
        known = [row for row in drawn if row["mean_low"] is not None]
        if bands and known and not (share and look.apart):
            low, high = [row["mean_low"] for row in known], [row["mean_high"] for row in known]
            at = [row["round"] for row in known]
            axes.fill_between(at, low, high, color=look.colour, alpha=0.13, lw=0, step=step)
        if medians:
            axes.plot([row["round"] for row in own], [row["median"] for row in own], color=look.colour, ls=":", lw=1)
    axes.set_xlabel("round")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_xlim(0 if share else 1, max((row["round"] for row in rows), default=None))


def scaled(axes: "Axes", share: bool = False) -> None:
    """The scale from 0 to 1, with half of it marked."""
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "½", "", "1"] if not share else ["0%", "", "50%", "", "100%"])
    axes.axhline(0.5, color=MUTED.light, lw=0.8, ls=(0, (2, 2)), zorder=1)


def key(figure: "Figure", axes: "Axes", columns: int = 4) -> None:
    """One legend over all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=min(columns, len(labels)), handlelength=2.6)


def summed_up(rows: Sequence[Mapping[str, Any]], form: str = "share") -> str:
    """The last value of each editor, in words."""
    last = {row["editor"]: row for row in rows}
    words = [f"{editor} {format_value(row['mean'], form)} after round {row['round']}" for editor, row in last.items()]
    return "; ".join(words) + "."


def single(
    name: str, metric: str, rows: Sequence[Mapping[str, Any]], looks: Mapping[str, Look], words: str
) -> Drawing | None:
    """One metric on the scale from 0 to 1, large."""
    own = [row for row in rows if row["metric"] == metric and row["slice"] == "all"]
    if not own:
        return None
    figure, axes = blank(height=3.36)
    lines(axes[0, 0], own, looks, share=metric == "kept")
    scaled(axes[0, 0], share=metric == "kept")
    axes[0, 0].set_ylabel("share of cases" if metric == "kept" else "retained quality")
    key(figure, axes[0, 0])
    return Drawing(name, words, f"{sentence(NAMES[metric])}: {summed_up(own)}", figure)


def panels(
    name: str,
    parts: Mapping[str, Sequence[Mapping[str, Any]]],
    looks: Mapping[str, Look],
    words: str,
    medians: bool = False,
    share: bool = False,
) -> Drawing | None:
    """Small multiples that share their scale, two or three a row."""
    filled = {title: rows for title, rows in parts.items() if rows}
    if not filled:
        return None
    columns = 2 if len(filled) in (2, 4) or len(filled) == 1 else 3
    height = -(-len(filled) // columns)
    figure, grid = blank(height, columns, 0.7 + 2.1 * height, sharey=True)
    for axes, (title, rows) in zip(grid.flat, filled.items(), strict=False):
        lines(axes, rows, looks, medians, share, bands=not share)
        scaled(axes, share)
        axes.set_title(title)
    for axes in list(grid.flat)[len(filled) :]:
        axes.set_visible(False)
    key(figure, grid.flat[0])
    told = " ".join(f"{title}: {summed_up(rows)}" for title, rows in filled.items())
    return Drawing(name, words, told, figure)
