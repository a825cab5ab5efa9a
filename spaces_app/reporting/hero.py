"""The hero picture of a report: film strips of a typical test above the survival curves."""

import base64
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from convergebench.generation.pictures import decode

from ..analysis.analysis import Analysis
from ..analysis.groups import ROLES
from ..palette import INK, MUTED, Look
from ..statistics.curves import slice_curves
from ..statistics.leaderboard import Row
from .figures import Drawing, draw_lines, new_figure
from .filmstrips import Frame, Strip
from .headline import headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 10.0  # inches
_LOSS = "#b84900"


def draw_hero(
    analysis: Analysis, board: Sequence[Row], strips: Sequence[Strip], looks: Mapping[str, Look]
) -> Drawing:
    """`board` has the leaderboard rows of one group, and `strips` the film strips of its typical test."""
    group = analysis.groups[board[0].group]
    answer, scope = headline(board)
    figure, grid = draw_strips(f"{textwrap.fill(answer, 92)}\n{scope}", strips, 2.4)
    for axes in grid[-1]:
        axes.remove()
    axes = figure.add_subplot(grid[-1, 0].get_gridspec()[-1, :])
    shown = {row.editor: looks[row.editor] for row in board if row.editor in {strip.label for strip in strips}}
    rows = slice_curves(group, analysis.outcomes[group.name], "all", metrics=("kept",))
    draw_lines(axes, rows, shown, share=True)
    axes.set_ylabel("tests that survive")
    for strip in strips:
        ends = [row for row in rows if row.editor == strip.label]
        axes.annotate(strip.editor, (ends[-1].round, ends[-1].mean.value), xytext=(6, 0), textcoords="offset points",
                      va="center", color=INK, annotation_clip=False)  # fmt: skip
    words = "; ".join(f"{strip.editor} {strip.why}" for strip in strips)
    return Drawing("hero", answer, f"{scope} {strips[0].title}: {words}.", figure)


def draw_strips(title: str, strips: Sequence[Strip], below: float = 0.0) -> Any:
    """A figure with a strip in each row and its axes; `below` is the height kept free under them, in inches."""
    frames = max(len(strip.frames) for strip in strips)
    width, height = max(frame["size"] for strip in strips for frame in strip.frames)
    aspect = min(height / width, 1.2) if width and height else 1.0  # a dataset without pictures has no sizes
    strip_height = (_WIDTH / frames - 0.2) * aspect + 0.85  # inches
    ratios = [strip_height] * len(strips) + [below] * bool(below)
    figure, grid = new_figure(len(ratios), frames, sum(ratios) + 0.6, height_ratios=ratios)
    figure.set_figwidth(_WIDTH)
    figure.suptitle(f"{title}\n\n", x=0.01, ha="left", fontsize=13, fontweight="bold")
    for line, strip in zip(grid, strips, strict=False):
        for axes in line:
            axes.set_axis_off()
        for axes, frame in zip(line, strip.frames, strict=False):
            _show(axes, frame)
        colour = _LOSS if "fails" in strip.why else INK
        line[0].annotate(f"{strip.editor}: {strip.why}", (0, 1), (0, 33), "axes fraction", "offset points",
                         fontsize=11, fontweight="bold", color=colour, in_layout=False)  # fmt: skip
    return figure, grid


def editors_for_strips(board: Sequence[Row]) -> list[str]:
    """The first and the last editor under test; if there is only one, that editor and the best baseline."""
    tested = [row.editor for row in board if row.role == ROLES["editor"]]
    others = [row for row in board if row.editor not in tested]
    best = [row.editor for row in sorted(others, key=lambda row: -(row.rounds_kept.value or 0))[:1]]
    return [*tested[:1], *(tested[1:] or best)[-1:]]


def _show(axes: "Axes", frame: Frame) -> None:
    if frame["uri"]:
        axes.imshow(decode(base64.b64decode(frame["uri"].partition(",")[2])))
    axes.set_title(("✗ " if frame["is_loss"] else "") + frame["label"].replace(", ", "\n"), fontsize=9.5,
                   color=_LOSS if frame["is_loss"] else MUTED)  # fmt: skip
    if frame["is_loss"]:
        axes.set_axis_on()
        axes.set(xticks=[], yticks=[])
        axes.grid(False)
        axes.spines[:].set(visible=True, color=_LOSS, linewidth=3)
