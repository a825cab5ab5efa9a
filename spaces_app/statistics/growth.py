"""The appendix: does a round contract, and how does the error grow?"""

from collections.abc import Sequence
from typing import Any

from convergebench.metric_modules.contraction.growth import exponent, factor, fixed_point_distance, mean_over_clusters
from convergebench.metric_modules.contraction.shape import shape

from ..analysis.analysis import Analysis
from ..analysis.cases import Case
from ..analysis.tables import Column, format_value
from ..palette import MUTED
from ..reporting.figures import Drawing, FigureContext, figure_names, new_figure
from . import Rows

TITLE = "Contraction and growth"
SECTION = "Appendix: contraction and growth"
COLUMNS = (
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("group", "Programs", shown=False),
    Column("q", "Contraction factor q", "number", interval=True),
    Column("exponent", "MSE grows as n to the", "number", interval=True),
    Column("shape", "Shape of the mean curve"),
    Column("weight", "Weight of that shape", "share"),
    Column("rest", "Comes to rest at RMSE", "number", interval=True),
    Column("cases", "Cases", "count"),
    Column("reason", "Why something is missing", shown=False),
)
NO_STEPS = "q needs the distance between consecutive returns, which the scores do not hold"
DRAWN = {"q": "contraction factor q", "exponent": "exponent of MSE in n"}


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row per editor and group: 0 is jitter, 1 a random walk, 2 drift; q below 1 contracts."""
    return [
        {"editor": editor, "role": group.role_title(editor), "group": name} | growth_row(cases)
        for name, group in analysis.groups.items()
        for editor, cases in group.cases.items()
    ]


def note(analysis: Analysis, rows: Rows) -> str:
    reasons = sorted({part for row in rows for part in (row["reason"] or "").split("; ") if part})
    return f"Not computed: {'; '.join(reasons)}." if reasons else ""


def growth_row(cases: Sequence[Case]) -> dict[str, Any]:
    """Factor, exponent, shape and resting place of one editor's chains, each with limits over sources."""
    sources = [case.source for case in cases]
    rounds = list(range(1, max(case.rounds for case in cases) + 1))
    squares = [[None if value is None else value * value for value in case.raw["rmse"]] for case in cases]
    factors = [factor(case.to_previous) for case in cases]
    means = [
        mean_over_clusters([own[place] if place < len(own) else None for own in squares], sources, 0.95)[0]
        for place in range(len(rounds))
    ]
    form = shape(means, rounds)
    reasons = [NO_STEPS] if not any(each is not None for each in factors) else []
    reasons += [f"no shape: {form['reason']}"] if form["reason"] else []
    return {
        **with_limits("q", factors, sources),
        **with_limits("exponent", [exponent(own, rounds) for own in squares], sources),
        "shape": form["shape"],
        "weight": form["weights"][form["shape"]] if form["shape"] else None,
        **with_limits(
            "rest",
            [fixed_point_distance(own, rounds, q) for own, q in zip(squares, factors, strict=True)],
            sources,
        ),
        "cases": len(cases),
        "reason": "; ".join(reasons) or None,
    }


def with_limits(key: str, values: Sequence[float | None], sources: Sequence[str]) -> dict[str, Any]:
    centre, interval = mean_over_clusters(values, sources, 0.95)
    low, high = interval or (None, None)
    return {key: centre, f"{key}_low": low, f"{key}_high": high}


def figures(rows: Rows, context: FigureContext) -> list[Drawing]:
    """Contraction factor and growth exponent of every editor with limits; what was not computed has no panel."""
    by_editor = {row["editor"]: row for row in rows if row["group"] == context.group}
    measures = [name for name in DRAWN if any(row[name] is not None for row in by_editor.values())]
    if not measures:
        return []
    shown = [
        editor for editor in context.looks if any(by_editor.get(editor, {}).get(name) is not None for name in measures)
    ]
    figure, grid = new_figure(1, len(measures), 1.0 + 0.34 * len(shown), sharey=True)
    words, names = [], figure_names(shown)
    for axes, name in zip(grid[0], measures, strict=True):
        for place, editor in enumerate(shown):
            row, look = by_editor[editor], context.looks[editor]
            if row[name] is None:
                continue
            axes.plot(row[name], place, marker=look.marker, color=look.colour, ms=7)
            if row[f"{name}_low"] is not None:
                axes.plot([row[f"{name}_low"], row[f"{name}_high"]], [place, place], color=look.colour, lw=1.8)
            words.append(f"{editor}, {DRAWN[name]} {format_value(row[name], 'number')}")
        axes.set_yticks(range(len(shown)), [names[editor] for editor in shown])
        axes.set_xlabel(DRAWN[name])
        axes.axvline(1, color=MUTED.light, lw=0.8, ls=(0, (2, 2)))
    grid[0, 0].set_ylim(len(shown) - 0.5, -0.5)
    title = "How the error grows: 0 is jitter, 1 a random walk, 2 drift"
    return [Drawing("growth", title, "; ".join(words) + ".", figure)]
