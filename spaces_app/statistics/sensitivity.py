"""How the order of editors moves with the rules."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import area, kaplan_meier

from ..analysis.analysis import Analysis
from ..analysis.cases import RETAINED, Case
from ..analysis.edit_limits import judge_cases_again
from ..analysis.groups import CaseGroup, count_failures, outcome_of_case, outcome_of_curve
from ..analysis.stored_rows import narrow
from ..analysis.tables import Column, TableRow, column, columns_by_key
from ..palette import Look
from ..reporting.figures import Drawing, FigureContext, add_legend, new_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "Rounds survived when the rules change"
SECTION = "How stable is the ranking?"
_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_AREAS = (0.00075, 0.0015, 0.003, 0.006, 0.012)
# What is changed -> the column and check it needs, the argument of `judge_again`, settings.
_EDIT_LIMITS: dict[str, tuple[str, str, str, tuple[float, ...]]] = {
    "least area of an edit": ("edit_share", "edits", "share", _AREAS),
    "most that may be left of an edit": ("undo_ratio", "edits", "left", (0.2, 0.3, 0.4, 0.5, 0.6)),
    "least area of a lost part": ("part_lost_share", "part_lost", "part", _AREAS),
}
_Change = tuple[str, str, Callable[[Case], Outcome], int]  # what, setting, rule, rounds
_Rejudged = Mapping[tuple[str, float], Mapping[str, Case]]  # by change: cases by chain


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
    rejudged = _judge_again(analysis)
    for name, group in analysis.groups.items():
        usual = _mean_rounds(group, partial(_outcome, group, threshold=threshold), group.rounds)
        for what, setting, rule, horizon in _changes(group, threshold, rejudged):
            kept = _mean_rounds(group, rule, horizon)
            rows.append(Row(group=name, what=what, setting=setting, tau=_kendall_tau(kept, usual), kept=kept))
    return rows


def _judge_again(analysis: Analysis) -> _Rejudged:
    """Only limits for which the scores have the numbers."""
    counted = {case.chain.id for group in analysis.groups.values() for case in group.all_cases}
    rejudged: dict[tuple[str, float], Mapping[str, Case]] = {}
    for what, (needed, _, limit, settings) in _EDIT_LIMITS.items():
        numbers = narrow(analysis.scores, ["chain", needed])
        if any(row.value(needed) is not None and row.chain in counted for row in numbers):
            rejudged |= {(what, setting): judge_cases_again(analysis, **{limit: setting}) for setting in settings}
    return rejudged


def _changes(group: CaseGroup, threshold: float, rejudged: _Rejudged) -> Iterator[_Change]:
    rounds, headline = group.rounds, partial(_outcome, group, threshold=threshold)
    for level in _THRESHOLDS:
        yield "threshold", f"{level:g}", partial(_outcome, group, threshold=level), rounds
    for name in RETAINED:
        if name in group.checks:
            yield "metric alone", name.upper(), partial(_by_one_metric, name, threshold), rounds
    for horizon in sorted({max(1, rounds // 4), max(1, rounds // 2)} - {rounds}):
        yield "rounds", f"{horizon}", partial(headline, horizon=horizon), horizon
    for (what, setting), cases in rejudged.items():
        if _EDIT_LIMITS[what][1] in group.checks:
            yield what, f"{setting:g}", partial(headline, instead=cases), rounds


def _outcome(
    group: CaseGroup,
    case: Case,
    threshold: float,
    horizon: int | None = None,
    instead: Mapping[str, Case] | None = None,
) -> Outcome:
    case = (instead or {}).get(case.chain.id, case)
    return outcome_of_case(case, group.checks_of(case.editor), threshold, horizon)


def _by_one_metric(name: str, threshold: float, case: Case) -> Outcome:
    return outcome_of_curve(case, case.retained[name], threshold)


def _mean_rounds(group: CaseGroup, rule: Callable[[Case], Outcome], horizon: int) -> dict[str, float]:
    means = {}
    for editor in group.tested(2):
        outcomes = count_failures(group.cases[editor], [rule(case) for case in group.cases[editor]])
        if watched := [outcome for outcome in outcomes if outcome.time]:
            # A chain watched up to a round was not at risk after it.
            kept = [min(outcome.kept, horizon) + 1e-9 * outcome.lost for outcome in watched]
            alive = kaplan_meier(kept, [outcome.lost for outcome in watched])
            means[editor] = round(float(area(*alive, horizon)), 6)
    return means


def _kendall_tau(values: Mapping[str, float], others: Mapping[str, float]) -> float | None:
    """Tau-b; None if one of them has no order."""
    from scipy import stats  # takes half a second, which only a report should pay

    both = [editor for editor in values if editor in others]
    if len(both) < 2:
        return None
    tau = stats.kendalltau([values[editor] for editor in both], [others[editor] for editor in both]).statistic
    return None if tau is None or tau != tau else float(tau)


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """The order of editors depends on the rules if lines cross."""
    rows = [row for row in rows if row.group == context.group and row.what in ("threshold", *_EDIT_LIMITS)]
    looks = {editor: look for editor, look in context.looks.items() if any(editor in row.kept for row in rows)}
    if not looks:
        return []
    changes = list(dict.fromkeys(row.what for row in rows))
    figure, panels = new_panels(len(changes), 0, 3.2, sharey=True)
    sentences = []
    for what, axes in zip(changes, panels, strict=True):
        sentences += _draw_panel(axes, what, [row for row in rows if row.what == what], looks)
    panels[0].set_ylim(0)
    for axes in panels[::2]:
        axes.set_ylabel("rounds survived, mean")
    add_legend(figure, panels[0])
    limits = " and limits of the edit checks" if len(panels) > 1 else ""
    title = f"Rounds survived under other thresholds{limits}"
    return [Drawing("sensitivity", title, "; ".join(sentences) + ".", figure)]


def _draw_panel(axes: "Axes", what: str, rows: Sequence[Row], looks: Mapping[str, Look]) -> list[str]:
    sentences = []
    for editor, look in looks.items():
        points = [(float(row.setting), row.kept[editor]) for row in rows if editor in row.kept]
        axes.plot(*zip(*points, strict=True), **look.line, ms=5, label=editor, clip_on=False)
        sentences.append(f"{editor}, {what}: " + ", ".join(f"{kept:.1f} at {level:g}" for level, kept in points))
    levels = sorted({float(row.setting) for row in rows})
    if levels[-1] > 8 * levels[0]:
        axes.set_xscale("log")
    axes.set_xticks(levels, [f"{level:.2g}" if level >= 0.1 else f"{level:.2%}" for level in levels], minor=False)
    axes.minorticks_off()
    axes.set_xlabel("threshold of what has to be retained" if what == "threshold" else what)
    return sentences
