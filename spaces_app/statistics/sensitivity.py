"""How the order of editors moves with the threshold, with the metric, and with the number of rounds."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import area, kaplan_meier

from ..study.cases import RETAINED, Case
from ..study.groups import HALF, CaseGroup, outcome_of_case, outcome_of_curve
from ..study.tables import Column, Table

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
COLUMNS = (
    Column("what", "What is changed"),
    Column("group", "Programs", shown=False),
    Column("setting", "To"),
    Column("tau", "Agreement of the order (Kendall's τ)", "number"),
)
Rule = Callable[[Case], Outcome]


def mean_kept(outcomes: Sequence[Outcome], horizon: int) -> float | None:
    """Mean rounds kept up to the horizon, a chain that failed technically counting as far as it was watched."""
    watched = [outcome for outcome in outcomes if outcome.time]
    if not watched:
        return None
    # A chain watched up to a round was not at risk of the loss that others met after that round.
    kept = [min(outcome.kept, horizon) + 1e-9 * outcome.lost for outcome in watched]
    return round(float(area(*kaplan_meier(kept, [outcome.lost for outcome in watched]), horizon)), 6)


def table(groups: Sequence[CaseGroup], threshold: float = HALF) -> Table:
    """One row per change, one column of mean rounds kept per editor; tau is 1 where the order stays as it is."""
    rows: list[dict[str, Any]] = []
    editors: dict[str, None] = {}
    for group in groups:
        chosen = group.tested(2)
        base = means(group, chosen, partial(outcome_of_case, checks=group.checks, threshold=threshold), group.rounds)
        for what, setting, rule, horizon in changes(group, threshold):
            own = means(group, chosen, rule, horizon)
            rows.append({"group": group.name, "what": what, "setting": setting, "tau": tau(own, base)} | own)
        editors |= dict.fromkeys(chosen)
    columns = (*COLUMNS, *(Column(editor, editor, "rounds") for editor in editors))
    return Table("sensitivity", "Mean rounds kept when the rules change", columns, rows)


def changes(group: CaseGroup, threshold: float) -> list[tuple[str, str, Rule, int]]:
    """What is changed, to what, the outcome of a case under it, and the number of rounds."""
    rounds = group.rounds
    headline = partial(outcome_of_case, checks=group.checks)
    found: list[tuple[str, str, Rule, int]] = [
        ("threshold", f"{level:g}", partial(headline, threshold=level), rounds) for level in THRESHOLDS
    ]
    found += [
        ("metric alone", name.upper(), partial(alone, name=name, threshold=threshold), rounds)
        for name in RETAINED
        if name in group.checks
    ]
    shorter = sorted({max(1, rounds // 4), max(1, rounds // 2)} - {rounds})
    return found + [
        ("rounds", f"{horizon}", partial(headline, threshold=threshold, horizon=horizon), horizon)
        for horizon in shorter
    ]


def alone(case: Case, name: str, threshold: float) -> Outcome:
    return outcome_of_curve(case, case.retained[name], threshold)


def means(group: CaseGroup, editors: Sequence[str], rule: Rule, horizon: int) -> dict[str, float]:
    found = {editor: mean_kept([rule(case) for case in group.cases[editor]], horizon) for editor in editors}
    return {editor: value for editor, value in found.items() if value is not None}


def tau(own: Mapping[str, float], base: Mapping[str, float]) -> float | None:
    """Kendall's tau-b between two orders of editors; None where one of them has no order."""
    from scipy import stats  # half a second of a start, and only a report's

    both = [editor for editor in own if editor in base]
    if len(both) < 2:
        return None
    found = stats.kendalltau([own[each] for each in both], [base[each] for each in both]).statistic
    return None if found is None or found != found else float(found)
