"""How the order of editors moves with the threshold, the metric and the number of rounds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import area, kaplan_meier

from ..analysis.analysis import Analysis
from ..analysis.cases import RETAINED, Case
from ..analysis.groups import CaseGroup, count_failures, outcome_of_case, outcome_of_curve
from ..analysis.tables import Column, TableRow, column, columns_by_key
from ..reporting.figures import Drawing, FigureContext, add_legend, new_panels

TITLE = "Rounds survived when the rules change"
SECTION = "How stable is the ranking?"
_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class Row(TableRow):
    what: str = column("What is changed")
    group: str = column("Programs", shown=False)
    setting: str = column("To")
    tau: float | None = column("Agreement of the order (Kendall's τ)", "number")
    kept: Mapping[str, float] = columns_by_key(lambda editor: Column(editor, editor, "rounds"))


def rows(analysis: Analysis) -> list[Row]:
    """Tau is 1 if the order does not change."""
    rows: list[Row] = []
    threshold = analysis.options.threshold
    for name, group in analysis.groups.items():
        usual = _mean_rounds(group, partial(_outcome, group, threshold=threshold), group.rounds)
        for what, setting, rule, horizon in _changes(group, threshold):
            kept = _mean_rounds(group, rule, horizon)
            rows.append(Row(group=name, what=what, setting=setting, tau=_kendall_tau(kept, usual), kept=kept))
    return rows


def _changes(group: CaseGroup, threshold: float) -> Iterator[tuple[str, str, Callable[[Case], Outcome], int]]:
    rounds, headline = group.rounds, partial(_outcome, group, threshold=threshold)
    for level in _THRESHOLDS:
        yield "threshold", f"{level:g}", partial(_outcome, group, threshold=level), rounds
    for name in RETAINED:
        if name in group.checks:
            yield "metric alone", name.upper(), partial(_by_one_metric, name, threshold), rounds
    for horizon in sorted({max(1, rounds // 4), max(1, rounds // 2)} - {rounds}):
        yield "rounds", f"{horizon}", partial(headline, horizon=horizon), horizon


def _outcome(group: CaseGroup, case: Case, threshold: float, horizon: int | None = None) -> Outcome:
    return outcome_of_case(case, group.checks_of(case.editor), threshold, horizon)


def _by_one_metric(name: str, threshold: float, case: Case) -> Outcome:
    return outcome_of_curve(case, case.retained[name], threshold)


def _mean_rounds(group: CaseGroup, rule: Callable[[Case], Outcome], horizon: int) -> dict[str, float]:
    means = {}
    for editor in group.tested(2):
        outcomes = count_failures(group.cases[editor], [rule(case) for case in group.cases[editor]])
        if watched := [outcome for outcome in outcomes if outcome.time]:
            # A loss counts just after the last round kept: chains that ended in that round are not at risk of it.
            kept = [min(outcome.kept, horizon) + 1e-9 * outcome.lost for outcome in watched]
            alive = kaplan_meier(kept, [outcome.lost for outcome in watched])
            means[editor] = round(float(area(*alive, horizon)), 6)
    return means


def _kendall_tau(values: Mapping[str, float], others: Mapping[str, float]) -> float | None:
    """Tau-b; None if fewer than two editors are in both, or if all are tied in one."""
    from scipy import stats  # takes half a second, which only a report should pay

    both = [editor for editor in values if editor in others]
    if len(both) < 2:
        return None
    tau = stats.kendalltau([values[editor] for editor in both], [others[editor] for editor in both]).statistic
    return None if tau is None or tau != tau else float(tau)


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """The order of editors depends on the threshold if lines cross."""
    rows = [row for row in rows if row.group == context.group and row.what == "threshold"]
    looks = {editor: look for editor, look in context.looks.items() if any(editor in row.kept for row in rows)}
    if not looks:
        return []
    figure, (axes,) = new_panels(1, 0, 3.2)
    sentences = []
    for editor, look in looks.items():
        points = [(float(row.setting), row.kept[editor]) for row in rows if editor in row.kept]
        axes.plot(*zip(*points, strict=True), **look.line, ms=5, label=editor, clip_on=False)
        sentences.append(f"{editor}: " + ", ".join(f"{kept:.1f} at {level:g}" for level, kept in points))
    axes.set_ylim(0)
    axes.set_xticks(_THRESHOLDS)
    axes.set_xlabel("threshold of what has to be retained")
    axes.set_ylabel("rounds survived, mean")
    add_legend(figure, axes)
    return [Drawing("sensitivity", "Rounds survived under other thresholds", "; ".join(sentences) + ".", figure)]
