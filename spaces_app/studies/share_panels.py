"""A figure of several shares, which some studies draw."""

from collections.abc import Mapping, Sequence

from ..analysis.tables import format_value
from ..reporting.figures import Drawing, FigureContext, add_legend, new_figure


def share_panels(
    name: str,
    title: str,
    panels: Mapping[str, Mapping[str, Sequence[tuple[int, float]]]],
    context: FigureContext,
    along: str,
) -> Drawing:
    """Beside each other, by what is a share: each editor's share at some numbers of `along`."""
    figure, grid = new_figure(1, len(panels), 3.0, sharey=True)
    sentences = []
    for axes, (label, lines) in zip(grid[0], panels.items(), strict=True):
        for editor, look in context.looks.items():
            if points := sorted(lines.get(editor, ())):
                axes.plot(*zip(*points, strict=True), **look.line, label=editor)
                number, share = points[-1]
                sentences.append(f"{editor}, {label}: {format_value(share, 'share')} at {along} {number}")
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlabel(along)
        axes.set_ylabel(label)
    add_legend(figure, grid[0, 0])
    return Drawing(name, title, "; ".join(sentences) + ".", figure)
