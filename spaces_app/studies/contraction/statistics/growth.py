from collections.abc import Sequence

from convergebench.metric_modules.contraction.growth import exponent, factor, fixed_point_distance, shape
from convergebench.metric_modules.halflife.intervals import mean_over_clusters

from ....analysis.analysis import Analysis
from ....analysis.cases import Case
from ....analysis.tables import Estimate, TableRow, column, estimate, format_value
from ....palette import MUTED
from ....reporting.figures import Drawing, FigureContext, figure_names, new_figure
from ....statistics import OnPage

TITLE = "Contraction and growth"
SECTION = "Appendix: contraction and growth"
ON_PAGE = OnPage(order=99)
_NO_STEPS = "q needs the distance between consecutive returns, which the scores do not hold"


class Row(TableRow):
    editor: str = column("Editor")
    role: str = column("Role", shown=False)
    group: str = column("Programs", shown=False)
    q: Estimate = column("Contraction factor q", "number")
    exponent: Estimate = column("MSE grows as n to the", "number")
    shape: str | None = column("Shape of the mean curve")
    weight: float | None = column("Weight of that shape", "share")
    rest: Estimate = column("Settles at RMSE", "number")
    cases: int = column("Tests", "count")
    reason: str | None = column("Why something is missing", shown=False)


def rows(analysis: Analysis) -> list[Row]:
    """One row per editor and group: 0 is jitter, 1 a random walk, 2 drift; q below 1 contracts."""
    return [
        _row(editor, group.roles[editor], name, cases)
        for name, group in analysis.groups.items()
        for editor, cases in group.cases.items()
    ]


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    reasons = sorted({part for row in rows for part in (row.reason or "").split("; ") if part})
    return f"Not computed: {'; '.join(reasons)}." if reasons else ""


def _row(editor: str, role: str, group: str, cases: Sequence[Case]) -> Row:
    sources = [case.source for case in cases]
    rounds = list(range(1, max(case.rounds for case in cases) + 1))
    squares = [[None if value is None else value * value for value in case.raw["rmse"]] for case in cases]
    factors = [factor(case.raw["rmse_previous"]) for case in cases]
    means = [
        mean_over_clusters([curve[place] if place < len(curve) else None for curve in squares], sources)[0]
        for place in range(len(rounds))
    ]
    fit = shape(means, rounds)
    reasons = [] if any(q is not None for q in factors) else [_NO_STEPS]
    reasons += [f"no shape: {fit['reason']}"] if fit["reason"] else []
    rests = [fixed_point_distance(curve, rounds, q) for curve, q in zip(squares, factors, strict=True)]
    return Row(
        editor=editor,
        role=role,
        group=group,
        q=estimate(*mean_over_clusters(factors, sources)),
        exponent=estimate(*mean_over_clusters([exponent(curve, rounds) for curve in squares], sources)),
        shape=fit["shape"],
        weight=fit["weights"][fit["shape"]] if fit["shape"] and fit["weights"] else None,
        rest=estimate(*mean_over_clusters(rests, sources)),
        cases=len(cases),
        reason="; ".join(reasons) or None,
    )


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    group_rows = {row.editor: row for row in rows if row.group == context.group}
    measures = {
        "contraction factor q": {editor: row.q for editor, row in group_rows.items() if row.q.value is not None},
        "exponent of MSE in n": {
            editor: row.exponent for editor, row in group_rows.items() if row.exponent.value is not None
        },
    }
    measures = {label: values for label, values in measures.items() if values}
    if not measures:
        return []
    editors = [editor for editor in context.looks if any(editor in values for values in measures.values())]
    figure, grid = new_figure(1, len(measures), 1.0 + 0.34 * len(editors), sharey=True)
    sentences, names = [], figure_names(editors)
    for axes, (label, values) in zip(grid[0], measures.items(), strict=True):
        for place, editor in enumerate(editors):
            if editor not in values:
                continue
            (value, low, high), look = values[editor], context.looks[editor]
            axes.plot(value, place, marker=look.marker, color=look.colour, ms=7)
            if low is not None:
                axes.plot([low, high], [place, place], color=look.colour, lw=1.8)
            sentences.append(f"{editor}, {label} {format_value(value, 'number')}")
        axes.set_yticks(range(len(editors)), [names[editor] for editor in editors])
        axes.set_xlabel(label)
        axes.axvline(1, color=MUTED.light, lw=0.8, ls=(0, (2, 2)))
    grid[0, 0].set_ylim(len(editors) - 0.5, -0.5)
    title = "How the error grows: 0 is jitter, 1 a random walk, 2 drift"
    return [Drawing("growth", title, "; ".join(sentences) + ".", figure)]
