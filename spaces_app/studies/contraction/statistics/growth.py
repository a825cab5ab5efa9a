from collections.abc import Iterator, Sequence

from convergebench.metric_modules.contraction.growth import exponent, factor, fixed_point_distance, shape
from convergebench.metric_modules.halflife.intervals import mean_over_clusters

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column, estimate
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


def rows(analysis: Analysis) -> Iterator[Row]:
    """One row per editor and group: 0 is jitter, 1 a random walk, 2 drift; q below 1 contracts."""
    for group in analysis.groups.values():
        for editor, cases in group.cases.items():
            sources = [case.source for case in cases]
            rounds = list(range(1, max(case.rounds for case in cases) + 1))
            squares = [
                [None if value is None else value * value for value in case.values("rmse")] for case in cases
            ]
            factors = [factor(case.values("rmse_previous")) for case in cases]
            by_round = [[curve[n - 1] if n <= len(curve) else None for curve in squares] for n in rounds]
            means = [mean_over_clusters(values, sources)[0] for values in by_round]
            fit = shape(means, rounds)
            reasons = [] if any(q is not None for q in factors) else [_NO_STEPS]
            reasons += [f"no shape: {fit['reason']}"] if fit["reason"] else []
            rests = [fixed_point_distance(curve, rounds, q) for curve, q in zip(squares, factors, strict=True)]
            yield Row(
                editor=editor,
                role=group.roles[editor],
                group=group.name,
                q=estimate(*mean_over_clusters(factors, sources)),
                exponent=estimate(*mean_over_clusters([exponent(curve, rounds) for curve in squares], sources)),
                shape=fit["shape"],
                weight=fit["shape"] and fit["weights"][fit["shape"]],
                rest=estimate(*mean_over_clusters(rests, sources)),
                cases=len(cases),
                reason="; ".join(reasons) or None,
            )


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    reasons = sorted({part for row in rows for part in (row.reason or "").split("; ") if part})
    return f"Not computed: {'; '.join(reasons)}." if reasons else ""
