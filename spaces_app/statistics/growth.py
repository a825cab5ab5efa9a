"""The appendix: does a round contract, and how does the error grow?"""

from collections.abc import Sequence
from typing import Any

from convergebench.metric_modules.contraction.growth import exponent, factor, fixed_point_distance, mean_over_clusters
from convergebench.metric_modules.contraction.shape import shape

from ..study.cases import Case
from ..study.groups import CaseGroup
from ..study.tables import Column, Table, hide_empty_columns

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


def table(groups: Sequence[CaseGroup]) -> Table:
    """One row per editor and group: 0 is jitter, 1 a random walk, 2 drift; q below 1 contracts."""
    rows = [
        {"editor": editor, "role": group.role_title(editor), "group": group.name} | row(cases)
        for group in groups
        for editor, cases in group.cases.items()
    ]
    reasons = sorted({part for row in rows for part in (row["reason"] or "").split("; ") if part})
    note = f"Not computed: {'; '.join(reasons)}." if reasons else ""
    return hide_empty_columns(Table("growth", "Contraction and growth", COLUMNS, rows, note))


def row(cases: Sequence[Case]) -> dict[str, Any]:
    """Factor, exponent, shape and resting place of one editor's chains, each with limits over sources."""
    sources = [case.source for case in cases]
    rounds = list(range(1, max(case.rounds for case in cases) + 1))
    squares = [[None if value is None else value * value for value in case.raw["rmse"]] for case in cases]
    factors = [factor(case.moved) for case in cases]
    means = [
        mean_over_clusters([own[place] if place < len(own) else None for own in squares], sources, 0.95)[0]
        for place in range(len(rounds))
    ]
    form = shape(means, rounds)
    reasons = [NO_STEPS] if not any(each is not None for each in factors) else []
    reasons += [f"no shape: {form['reason']}"] if form["reason"] else []
    return {
        **limited("q", factors, sources),
        **limited("exponent", [exponent(own, rounds) for own in squares], sources),
        "shape": form["shape"],
        "weight": form["weights"][form["shape"]] if form["shape"] else None,
        **limited(
            "rest",
            [fixed_point_distance(own, rounds, q) for own, q in zip(squares, factors, strict=True)],
            sources,
        ),
        "cases": len(cases),
        "reason": "; ".join(reasons) or None,
    }


def limited(key: str, values: Sequence[float | None], sources: Sequence[str]) -> dict[str, Any]:
    centre, interval = mean_over_clusters(values, sources, 0.95)
    low, high = interval or (None, None)
    return {key: centre, f"{key}_low": low, f"{key}_high": high}
