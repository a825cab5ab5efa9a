"""The bound of editors that work in an autoencoder's latents: the quality that encoding and decoding alone retains."""

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np
from convergebench.metric_modules.halflife.comparison import compare

from ..analysis.analysis import Analysis
from ..analysis.cases import Case, CaseKey
from ..analysis.display_names import display_names
from ..analysis.groups import CaseGroup, lowest_quality
from ..analysis.tables import Estimate, TableRow, column, estimate, format_value
from ..reporting.figures import Drawing, FigureContext, add_legend, new_figure, set_unit_scale
from . import OnPage

TITLE = "Upper bound for latent editors"
SECTION = "Upper bound for latent editors"
ON_PAGE = OnPage(order=20, line_where="bound")
_BOUND = "vae"  # the editor that only encodes and decodes
_MARGIN = 0.01  # of retained quality; a smaller excess does not count as above


class Row(TableRow):
    group: str = column("Programs", shown=False)
    bound: str = column("Bound")
    editor: str = column("Editor")
    area: float = column("Area", "share")
    bound_area: float = column("Area of the bound", "share")
    share: float | None = column("Share of the bound", "share")
    difference: Estimate = column("Below the bound by", "share")
    above: float = column("Rounds above the bound", "share")
    cases: int = column("Common cases", "count")
    sources: int = column("Sources", "count")
    curve: list[float] = field()  # for the figure alone
    bound_curve: list[float] = field()


def rows(analysis: Analysis) -> list[Row]:
    """A row for each editor and autoencoder with cases in common: the same picture and program, as many calls."""
    rows = []
    for group in analysis.groups.values():
        curves = {editor: _quality_curves(group, editor) for editor in group.cases}
        for bound in [editor for editor in curves if editor.split(":")[0] == _BOUND]:
            for editor in group.cases:
                if editor != bound and group.roles[editor] != "baseline" and curves[editor].keys() & curves[bound]:
                    rows.append(_row(group.name, editor, bound, curves[editor], curves[bound]))
    return sorted(rows, key=lambda row: (row.group, row.bound, -row.area))


def _quality_curves(group: CaseGroup, editor: str) -> dict[CaseKey, np.ndarray]:
    """Retained quality of each case by round, nothing after its end; cases without any are left out."""
    curves = {}
    for case in group.cases[editor]:
        values = lowest_quality(case, group.checks_of(editor))
        if any(value is not None for value in values):
            curves[case.key] = _whole_curve(case, values)
    return curves


def _whole_curve(case: Case, values: list[float | None]) -> np.ndarray:
    last = case.rounds if case.end == "complete" else (case.end_round or 1) - 1
    return np.array([(value or 0.0) if place < last else 0.0 for place, value in enumerate(values)])


def _row(
    group: str,
    editor: str,
    bound: str,
    curves: Mapping[CaseKey, np.ndarray],
    bound_curves: Mapping[CaseKey, np.ndarray],
) -> Row:
    common = curves.keys() & bound_curves.keys()
    rounds = {key: min(len(curves[key]), len(bound_curves[key])) for key in common}
    pairs = {key: (curves[key][: rounds[key]], bound_curves[key][: rounds[key]]) for key in common}
    areas, bound_areas = ({key: float(pair[side].mean()) for key, pair in pairs.items()} for side in (0, 1))
    pair = compare((bound, editor), bound_areas, areas, {key: key[0] for key in common})
    area, bound_area = (sum(values.values()) / len(values) for values in (areas, bound_areas))
    above = np.concatenate([curve > bound_curve + _MARGIN for curve, bound_curve in pairs.values()])
    places = range(min(rounds.values()))
    return Row(
        group=group,
        bound=bound,
        editor=editor,
        area=area,
        bound_area=bound_area,
        share=area / bound_area if bound_area else None,
        difference=estimate(pair.difference, pair.interval),
        above=float(above.mean()),
        cases=len(common),
        sources=pair.sources,
        curve=[float(np.mean([curve[place] for curve, _ in pairs.values()])) for place in places],
        bound_curve=[float(np.mean([curve[place] for _, curve in pairs.values()])) for place in places],
    )


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    return (
        "The autoencoder's row encodes and decodes as often as an editor is called, and edits nothing: an editor "
        "that works in these latents cannot retain more. An editor above it works in other latents, or in pixels."
    )


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """Retained quality of each editor, and the bound over it."""
    rows = [row for row in rows if row.group == context.group]
    drawings = []
    for number, bound in enumerate(dict.fromkeys(row.bound for row in rows), 1):
        bound_rows = [row for row in rows if row.bound == bound]
        figure, grid = new_figure(height=3.4)
        axes, names = grid[0, 0], display_names(row.editor for row in bound_rows)
        widest = max(bound_rows, key=lambda row: row.cases)
        rounds = range(1, len(widest.bound_curve) + 1)
        axes.plot(rounds, widest.bound_curve, color="#555", ls="--", lw=2, label="best of any latent editor")
        axes.fill_between(rounds, widest.bound_curve, 1.02, color="#999", alpha=0.15, lw=0)
        for row in bound_rows:
            look = context.looks[row.editor]
            axes.plot(range(1, len(row.curve) + 1), row.curve, color=look.colour, ls=look.dash, lw=look.width,
                      marker=look.marker, ms=4, label=row.editor)  # fmt: skip
        set_unit_scale(axes)
        axes.set_xlabel("round")
        axes.set_ylabel("retained quality")
        add_legend(figure, axes)
        text = "; ".join(f"{names[row.editor]} {format_value(row.share, 'share')} of the bound" for row in bound_rows)
        drawings.append(
            Drawing(f"latent-bound-{number}", f"Retained quality and what {bound} alone retains", f"{text}.", figure)
        )
    return drawings
