"""How the order of editors moves with the threshold, the limits of the edit checks, the metric, and the rounds."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import area, kaplan_meier

from ..analysis.analysis import Analysis
from ..analysis.cases import RETAINED, Case
from ..analysis.edit_limits import EditLimits, RejudgedCases
from ..analysis.groups import CaseGroup, count_failures, outcome_of_case, outcome_of_curve
from ..analysis.tables import Column, TableRow, column, columns_by_key
from ..palette import Look
from ..reporting.figures import Drawing, FigureContext, add_legend, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "Rounds survived when the rules change"
SECTION = "How stable is the ranking?"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
AREAS = (0.00075, 0.0015, 0.003, 0.006, 0.012)
# What is changed -> the column of the scores that it needs, the field of EditLimits, and its settings.
EDIT_LIMITS: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "least area of an edit": ("edit_share", "share", AREAS),
    "most that may be left of an edit": ("undo_ratio", "left", (0.2, 0.3, 0.4, 0.5, 0.6)),
    "least area of a lost part": ("part_lost_share", "part", AREAS),
}
Rule = Callable[[Case], Outcome]


class Row(TableRow):
    what: str = column("What is changed")
    group: str = column("Programs", shown=False)
    setting: str = column("To")
    tau: float | None = column("Agreement of the order (Kendall's τ)", "number")
    kept: Mapping[str, float] = columns_by_key(lambda editor: Column(editor, editor, "rounds"))  # mean, of each editor


def rows(analysis: Analysis) -> list[Row]:
    """One row per change; tau is 1 if the order does not change."""
    rows: list[Row] = []
    threshold = analysis.options.threshold
    rejudged = RejudgedCases(
        (case for group in analysis.groups.values() for cases in group.cases.values() for case in cases),
        analysis.scores,
        analysis.floors,
    )
    for name, group in analysis.groups.items():
        editors = group.tested(2)
        headline = partial(_headline_outcome, group=group, threshold=threshold)
        usual = _mean_rounds(group, editors, headline, group.rounds)
        for what, setting, rule, horizon in _rule_changes(group, threshold) + _limit_changes(group, headline, rejudged):
            kept = _mean_rounds(group, editors, rule, horizon)
            rows.append(Row(group=name, what=what, setting=setting, tau=kendall_tau(kept, usual), kept=kept))
    return rows


def _rule_changes(group: CaseGroup, threshold: float) -> list[tuple[str, str, Rule, int]]:
    """Each change of a rule: what is changed, its setting, a case's outcome under it, and the number of rounds."""
    rounds = group.rounds
    headline = partial(_headline_outcome, group=group)
    changes: list[tuple[str, str, Rule, int]] = [
        ("threshold", f"{level:g}", partial(headline, threshold=level), rounds) for level in THRESHOLDS
    ]
    changes += [
        ("metric alone", name.upper(), partial(_by_one_metric, name=name, threshold=threshold), rounds)
        for name in RETAINED
        if name in group.checks
    ]
    shorter = sorted({max(1, rounds // 4), max(1, rounds // 2)} - {rounds})
    return changes + [
        ("rounds", f"{horizon}", partial(headline, threshold=threshold, horizon=horizon), horizon)
        for horizon in shorter
    ]


def _limit_changes(group: CaseGroup, headline: Rule, rejudged: RejudgedCases) -> list[tuple[str, str, Rule, int]]:
    """The same for the limits of the edit checks, if the scores have the numbers that the limits apply to."""
    changes: list[tuple[str, str, Rule, int]] = []
    for what, (needed, field, settings) in EDIT_LIMITS.items():
        is_checked = ("part_lost" if field == "part" else "edits") in group.checks
        if is_checked and rejudged.has_numbers(needed):
            for setting in settings:
                changed = rejudged.changed(EditLimits(**{field: setting}))
                rule = partial(_by_other_limits, headline=headline, changed=changed)
                changes.append((what, f"{setting:g}", rule, group.rounds))
    return changes


def _by_other_limits(case: Case, headline: Rule, changed: Mapping[str, Case]) -> Outcome:
    return headline(changed.get(case.chain.id, case))


def _headline_outcome(case: Case, group: CaseGroup, threshold: float, horizon: int | None = None) -> Outcome:
    return outcome_of_case(case, group.checks_of(case.editor), threshold, horizon)


def _by_one_metric(case: Case, name: str, threshold: float) -> Outcome:
    return outcome_of_curve(case, case.retained[name], threshold)


def _mean_rounds(group: CaseGroup, editors: Sequence[str], rule: Rule, horizon: int) -> dict[str, float]:
    means = {}
    for editor in editors:
        cases = group.cases[editor]
        means[editor] = _mean_rounds_kept(count_failures(cases, [rule(case) for case in cases]), horizon)
    return {editor: mean for editor, mean in means.items() if mean is not None}


def _mean_rounds_kept(outcomes: Sequence[Outcome], horizon: int) -> float | None:
    """Mean rounds kept up to the horizon, a chain that failed technically counting as far as it was watched."""
    watched = [outcome for outcome in outcomes if outcome.time]
    if not watched:
        return None
    # A chain watched up to a round was not at risk of the loss that others met after that round.
    kept = [min(outcome.kept, horizon) + 1e-9 * outcome.lost for outcome in watched]
    return round(float(area(*kaplan_meier(kept, [outcome.lost for outcome in watched]), horizon)), 6)


def kendall_tau(values: Mapping[str, float], others: Mapping[str, float]) -> float | None:
    """Kendall's tau-b between two orders of editors; None if one of them has no order."""
    from scipy import stats  # takes half a second, which only a report should pay

    both = [editor for editor in values if editor in others]
    if len(both) < 2:
        return None
    tau = stats.kendalltau([values[editor] for editor in both], [others[editor] for editor in both]).statistic
    return None if tau is None or tau != tau else float(tau)


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """Mean rounds kept under other thresholds and limits: the order depends on them if lines cross."""
    rows = [row for row in rows if row.group == context.group and row.what in ("threshold", *EDIT_LIMITS)]
    looks = {editor: look for editor, look in context.looks.items() if any(editor in row.kept for row in rows)}
    if not looks:
        return []
    panels = {what: [row for row in rows if row.what == what] for what in dict.fromkeys(row.what for row in rows)}
    down = 1 + (len(panels) > 2)
    figure, grid = new_figure(down, min(len(panels), 2), 3.2 * down, sharey=True)
    sentences = []
    for what, axes in zip(panels, grid.flat, strict=False):
        sentences += _draw_panel(axes, what, panels[what], looks)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    grid[0, 0].set_ylim(0)
    for axes in grid[:, 0]:
        axes.set_ylabel("rounds survived, mean")
    add_legend(figure, grid[0, 0])
    title = "Rounds survived under other thresholds" + (" and limits of the edit checks" if len(panels) > 1 else "")
    return [Drawing("sensitivity", title, "; ".join(sentences) + ".", figure)]


def _draw_panel(axes: "Axes", what: str, rows: Sequence[Row], looks: Mapping[str, Look]) -> list[str]:
    """One line for each editor, and what it shows in words."""
    sentences = []
    for editor, look in looks.items():
        points = [(float(row.setting), row.kept[editor]) for row in rows if editor in row.kept]
        axes.plot(*zip(*points, strict=True), color=look.colour, ls=look.dash, lw=look.width, marker=look.marker, ms=5,
                  label=editor, clip_on=False)  # fmt: skip
        sentences.append(f"{editor}, {what}: " + ", ".join(f"{kept:.1f} at {level:g}" for level, kept in points))
    _set_levels(axes, sorted({float(row.setting) for row in rows}))
    axes.set_xlabel("threshold of what has to be retained" if what == "threshold" else what)
    return sentences


def _set_levels(axes: "Axes", levels: Sequence[float]) -> None:
    """The settings as ticks, on a logarithmic scale if they are far apart."""
    if levels[-1] > 8 * levels[0]:
        axes.set_xscale("log")
    axes.set_xticks(levels, [f"{level:.2g}" if level >= 0.1 else f"{level:.2%}" for level in levels], minor=False)
    axes.minorticks_off()
