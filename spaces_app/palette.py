"""Colours that stay apart for colour-blind readers, and SVG that follows the theme.

A figure is drawn once in the light colours. Rules of CSS turn each of them into its dark
partner, so that the same file serves both, and a viewer without CSS shows the light one.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

PAPER, INK, MUTED, GRID = "#ffffff", "#1b2330", "#566070", "#dce1e7"

# Found by optimisation (tests/spaces_app/test_palette.py holds the differences): 12
# colours that stay apart in normal vision, protanopia, deuteranopia and tritanopia, at
# 3:1 or more against the paper, as WCAG asks of lines and marks; words beside them are
# in ink, and a marker tells apart what is close in grey. The first are farthest apart.
_SERIES = {
    "#154ffe": "#4cfafe",
    "#7d7a0a": "#898447",
    "#990203": "#ff2211",
    "#28847d": "#45c3a5",
    "#b084b5": "#ffdaa2",
    "#742e55": "#f21aa1",
    "#d47768": "#b7bc59",
    "#2c92ff": "#198dad",
    "#6a5e90": "#aeabef",
    "#126036": "#a7fb14",
    "#6b01ab": "#8468ff",
    "#c7365e": "#ca857f",
}
SERIES = tuple(_SERIES)
DARK = {PAPER: "#14181f", INK: "#e9ecf0", MUTED: "#a9b2be", GRID: "#353d49", **_SERIES}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "p", "h", "<", ">")  # as matplotlib calls them
BASELINE_MARKER = "d"
_DASHES = ("--", (0, (5, 1.5, 1, 1.5)), (0, (1.5, 1.5)), (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)))
_DARK_THEME = "@media screen and (prefers-color-scheme: dark)"


class Look(NamedTuple):
    """How an editor is drawn everywhere: baselines are thin, dashed and grey."""

    colour: str  # in a light page; DARK has its dark partner
    marker: str
    dash: Any
    width: float
    is_reference: bool
    place: int  # in SERIES and MARKERS; after the last of them for a baseline

    @property
    def line(self) -> dict[str, Any]:
        """The arguments of matplotlib's `plot`."""
        return {"color": self.colour, "ls": self.dash, "lw": self.width, "marker": self.marker}


def assign_looks(editors: Collection[str], references: Collection[str]) -> dict[str, Look]:
    """One look for each editor, by name: no rank and no filter changes it."""
    tested, last = sorted({*editors}.difference(references)), len(SERIES)
    looks = {
        editor: Look(SERIES[place % last], MARKERS[place % last], "-", 2.2, False, place % last)
        for place, editor in enumerate(tested)
    }
    for place, editor in enumerate(sorted({*references})):
        looks[editor] = Look(MUTED, BASELINE_MARKER, _DASHES[place % len(_DASHES)], 1.5, True, last)
    return looks


def dark_rules() -> str:
    """CSS that gives each light colour of a drawing its dark partner.

    No selector names an ancestor: the copies that <use> makes have none.
    """
    rules = [
        f'[style*="{name}: {light}"]{{{name}:{dark} !important}}'
        for light, dark in DARK.items()
        for name in ("fill", "stroke")
    ]
    return f"{_DARK_THEME}{{{''.join(rules)}}}"
