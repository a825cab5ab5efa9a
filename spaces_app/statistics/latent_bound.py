"""The best that an editor can do that works in an autoencoder's latents: what encoding and decoding alone retains."""

from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.comparison import compare

from ..analysis.analysis import Analysis
from ..analysis.cases import Case, CaseKey
from ..analysis.display_names import display_names
from ..analysis.groups import CaseGroup, lowest_quality
from ..analysis.tables import Column, format_value
from ..reporting.figures import Drawing, FigureContext, add_legend, new_figure, set_unit_scale
from . import OnPage, Rows

TITLE = "The bound of latent editors"
SECTION = "Area under the degradation curve"
ON_PAGE = OnPage(order=20, line_where="bound")
BOUND = "vae"  # the editor that encodes and decodes, and does nothing else
COLUMNS = (
    Column("group", "Programs", shown=False),
    Column("bound", "Bound"),
    Column("editor", "Editor"),
    Column("area", "Area", "share"),
    Column("bound_area", "Area of the bound", "share"),
    Column("share", "Of what is possible", "share"),
    Column("difference", "Below the bound by", "share", interval=True),
    Column("above", "Rounds above the bound", "share"),
    Column("cases", "Common cases", "count"),
    Column("sources", "Sources", "count"),
)
MARGIN = 0.01  # of retained quality; so near is not above


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each editor and autoencoder with cases in common: the same picture and program, as many calls."""
    found = []
    for group in analysis.groups.values():
        curves = {editor: quality_curves(group, editor) for editor in group.cases}
        for bound in [editor for editor in curves if editor.split(":")[0] == BOUND]:
            for editor in group.cases:
                if (
                    editor != bound
                    and group.roles[editor] != "baseline"
                    and (common := curves[editor].keys() & curves[bound].keys())
                ):
                    found.append({"group": group.name} | editor_row(editor, bound, curves, common))
    return sorted(found, key=lambda row: (row["group"], row["bound"], -row["area"]))


def quality_curves(group: CaseGroup, editor: str) -> dict[CaseKey, np.ndarray]:
    """Retained quality of each case by round, nothing after its end; cases without any are left out."""
    found = {}
    for case in group.cases[editor]:
        values = lowest_quality(case, group.checks_of(editor))
        if any(value is not None for value in values):
            found[case.key] = whole_curve(case, values)
    return found


def whole_curve(case: Case, values: list[float | None]) -> np.ndarray:
    last = case.rounds if case.end == "complete" else (case.end_round or 1) - 1
    return np.array([(value or 0.0) if place < last else 0.0 for place, value in enumerate(values)])


def editor_row(
    editor: str, bound: str, curves: dict[str, dict[CaseKey, np.ndarray]], common: set[CaseKey]
) -> dict[str, Any]:
    pairs = {key: cut_alike(curves[editor][key], curves[bound][key]) for key in common}
    areas = [{key: float(pair[side].mean()) for key, pair in pairs.items()} for side in (0, 1)]
    pair = compare((bound, editor), areas[1], areas[0], {key: key[0] for key in common})
    low, high = pair.interval or (None, None)
    own, most = (sum(each.values()) / len(each) for each in areas)
    above = np.concatenate([one > other + MARGIN for one, other in pairs.values()])
    rounds = min(len(one) for one, _ in pairs.values())
    return {
        "bound": bound,
        "editor": editor,
        "area": own,
        "bound_area": most,
        "share": own / most if most else None,
        "difference": pair.difference,
        "difference_low": low,
        "difference_high": high,
        "above": float(above.mean()),
        "cases": len(common),
        "sources": pair.sources,
        "curve": [float(np.mean([one[place] for one, _ in pairs.values()])) for place in range(rounds)],
        "bound_curve": [float(np.mean([other[place] for _, other in pairs.values()])) for place in range(rounds)],
    }


def cut_alike(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rounds = min(len(one), len(other))
    return one[:rounds], other[:rounds]


def note(analysis: Analysis, rows: Rows) -> str:
    if rows:
        return (
            "The autoencoder's row encodes and decodes as often as an editor is called, and edits nothing: an editor "
            "that works in these latents cannot retain more. Who is above it works in other latents, or in pixels."
        )
    if not any(analysis.groups.values()):
        return ""
    return (
        "The bound of latent editors is not drawn: there are no chains of `vae` here, the editor that encodes and "
        "decodes with an autoencoder of your choice."
    )


def figures(rows: Rows, context: FigureContext) -> list[Drawing]:
    """Retained quality of each editor, and the bound over it."""
    rows = [row for row in rows if row["group"] == context.group]
    drawings = []
    for number, bound in enumerate(dict.fromkeys(row["bound"] for row in rows), 1):
        own = [row for row in rows if row["bound"] == bound]
        figure, grid = new_figure(height=3.4)
        axes, names = grid[0, 0], display_names(row["editor"] for row in own)
        widest = max(own, key=lambda row: row["cases"])
        rounds = range(1, len(widest["bound_curve"]) + 1)
        axes.plot(rounds, widest["bound_curve"], color="#555", ls="--", lw=2, label="best of any latent editor")
        axes.fill_between(rounds, widest["bound_curve"], 1.02, color="#999", alpha=0.15, lw=0)
        for row in own:
            look = context.looks[row["editor"]]
            axes.plot(range(1, len(row["curve"]) + 1), row["curve"], color=look.colour, ls=look.dash, lw=look.width,
                      marker=look.marker, ms=4, label=row["editor"])  # fmt: skip
        set_unit_scale(axes)
        axes.set_xlabel("round")
        axes.set_ylabel("retained quality")
        add_legend(figure, axes)
        words = "; ".join(f"{names[row['editor']]} {format_value(row['share'], 'share')} of the bound" for row in own)
        drawings.append(
            Drawing(f"latent-bound-{number}", f"Retained quality and what {bound} alone retains", f"{words}.", figure)
        )
    return drawings
