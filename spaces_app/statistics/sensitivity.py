"""How the order of editors moves with the threshold, with the metric, and with the number of rounds."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import area, kaplan_meier

from ..reporting.figures import Drawing, FigureContext, add_legend, new_figure
from ..study.cases import RETAINED, Case
from ..study.groups import CaseGroup, count_failures, outcome_of_case, outcome_of_curve
from ..study.study import Study
from ..study.tables import Column
from . import Rows

TITLE = "Mean rounds kept when the rules change"
SECTION = "What the order depends on"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
COLUMNS = (
    Column("what", "What is changed"),
    Column("group", "Programs", shown=False),
    Column("setting", "To"),
    Column("tau", "Agreement of the order (Kendall's τ)", "number"),
)
Rule = Callable[[Case], Outcome]


def columns(rows: Rows) -> tuple[Column, ...]:
    """One column of mean rounds kept for each editor."""
    own = {column.key for column in COLUMNS}
    editors = dict.fromkeys(key for row in rows for key in row if key not in own)
    return (*COLUMNS, *(Column(editor, editor, "rounds") for editor in editors))


def rows(study: Study) -> list[dict[str, Any]]:
    """One row per change; tau is 1 where the order stays as it is."""
    found: list[dict[str, Any]] = []
    threshold = study.options.threshold
    for name, group in study.groups.items():
        editors = group.tested(2)
        headline = partial(headline_outcome, group=group, threshold=threshold)
        usual = mean_rounds(group, editors, headline, group.rounds)
        for what, setting, rule, horizon in rule_changes(group, threshold):
            changed = mean_rounds(group, editors, rule, horizon)
            about = {"group": name, "what": what, "setting": setting, "tau": kendall_tau(changed, usual)}
            found.append(about | changed)
    return found


def rule_changes(group: CaseGroup, threshold: float) -> list[tuple[str, str, Rule, int]]:
    """What is changed, to what, the outcome of a case under it, and the number of rounds."""
    rounds = group.rounds
    headline = partial(headline_outcome, group=group)
    found: list[tuple[str, str, Rule, int]] = [
        ("threshold", f"{level:g}", partial(headline, threshold=level), rounds) for level in THRESHOLDS
    ]
    found += [
        ("metric alone", name.upper(), partial(by_one_metric, name=name, threshold=threshold), rounds)
        for name in RETAINED
        if name in group.checks
    ]
    shorter = sorted({max(1, rounds // 4), max(1, rounds // 2)} - {rounds})
    return found + [
        ("rounds", f"{horizon}", partial(headline, threshold=threshold, horizon=horizon), horizon)
        for horizon in shorter
    ]


def headline_outcome(case: Case, group: CaseGroup, threshold: float, horizon: int | None = None) -> Outcome:
    return outcome_of_case(case, group.checks_of(case.editor), threshold, horizon)


def by_one_metric(case: Case, name: str, threshold: float) -> Outcome:
    return outcome_of_curve(case, case.retained[name], threshold)


def mean_rounds(group: CaseGroup, editors: Sequence[str], rule: Rule, horizon: int) -> dict[str, float]:
    found = {}
    for editor in editors:
        cases = group.cases[editor]
        found[editor] = mean_rounds_kept(count_failures(cases, [rule(case) for case in cases]), horizon)
    return {editor: value for editor, value in found.items() if value is not None}


def mean_rounds_kept(outcomes: Sequence[Outcome], horizon: int) -> float | None:
    """Mean rounds kept up to the horizon, a chain that failed technically counting as far as it was watched."""
    watched = [outcome for outcome in outcomes if outcome.time]
    if not watched:
        return None
    # A chain watched up to a round was not at risk of the loss that others met after that round.
    kept = [min(outcome.kept, horizon) + 1e-9 * outcome.lost for outcome in watched]
    return round(float(area(*kaplan_meier(kept, [outcome.lost for outcome in watched]), horizon)), 6)


def kendall_tau(own: Mapping[str, float], base: Mapping[str, float]) -> float | None:
    """Kendall's tau-b between two orders of editors; None where one of them has no order."""
    from scipy import stats  # half a second of a start, and only a report's

    both = [editor for editor in own if editor in base]
    if len(both) < 2:
        return None
    found = stats.kendalltau([own[each] for each in both], [base[each] for each in both]).statistic
    return None if found is None or found != found else float(found)


def figures(rows: Rows, context: FigureContext) -> list[Drawing]:
    """Mean rounds kept under other thresholds: where lines cross, the order depends on the threshold."""
    rows = [row for row in rows if row["group"] == context.group and row["what"] == "threshold"]
    chosen = {
        editor: look for editor, look in context.looks.items() if any(row.get(editor) is not None for row in rows)
    }
    if not chosen:
        return []
    figure, grid = new_figure(height=3.2)
    axes, words = grid[0, 0], []
    for editor, look in chosen.items():
        own = [(float(row["setting"]), row[editor]) for row in rows if row.get(editor) is not None]
        axes.plot(*zip(*own, strict=True), color=look.colour, ls=look.dash, lw=look.width, marker=look.marker, ms=5,
                  label=editor, clip_on=False)  # fmt: skip
        words.append(f"{editor} " + ", ".join(f"{kept:.1f} at {level:g}" for level, kept in own))
    axes.set_xticks([float(row["setting"]) for row in rows])
    axes.set_ylim(0)
    axes.set_xlabel("threshold of what has to be retained")
    axes.set_ylabel("rounds kept, mean")
    add_legend(figure, axes)
    return [Drawing("sensitivity", "Rounds kept under other thresholds", "; ".join(words) + ".", figure)]
