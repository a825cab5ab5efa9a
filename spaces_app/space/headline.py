"""The leaderboard under a visitor's choice."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from convergebench.generation.records import UserError
from convergebench.metric_modules.halflife.outcomes import Outcome

from ..analysis.cases import COLUMNS, CURVES, MEANINGS, QUALITIES, RETAINED, Case, panel_title
from ..analysis.comparisons import compare_group
from ..analysis.groups import HALF, CaseGroup, count_failures, group_cases, outcome_of_case, outcome_of_curve
from ..analysis.tables import Table, rows_of
from ..statistics import leaderboard as statistic
from ..statistics import make_table, pairs
from .served_dataset import Answer, ServedDataset, check_allowed, ending

ALL = "all"
WORST_OF = f"worst of {', '.join(COLUMNS[name].title for name in QUALITIES)}"


class Choice(NamedTuple):
    """A visitor's filters, metric and threshold."""

    group: str = ""
    kind: str = ALL
    category: str = ALL
    metric: str = "convergence"
    threshold: float = HALF
    editors: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Leaderboard:
    table: Table
    versus: Table
    group: CaseGroup | None
    outcomes: dict[str, list[Outcome]]

    @property
    def typed_rows(self) -> list[statistic.Row]:
        return rows_of({"": self.table}, statistic.Row)

    @cached_property
    def judged(self) -> dict[str, tuple[Case, Outcome]]:
        """Each case with its outcome, by the id of its chain."""
        cases = self.group.cases if self.group else {}
        pairs = [pair for name in cases for pair in zip(cases[name], self.outcomes[name], strict=True)]
        return {case.chain.id: (case, outcome) for case, outcome in pairs}


@lru_cache(maxsize=4)
def measured(dataset: ServedDataset) -> set[str]:
    """The metrics with values, NAME or `retained NAME`."""
    return {
        name.replace("retained_", "retained ")
        for name in (*CURVES, *(f"retained_{name}" for name in RETAINED))
        if any(value is not None for case in dataset.cases for value in case.values(name))
    }


@lru_cache(maxsize=4)
def metric_titles(dataset: ServedDataset) -> dict[str, str]:
    titles = {"convergence": "any check", "quality": f"quality ({WORST_OF})"}
    return titles | {name: panel_title(name) for name in RETAINED if f"retained {name}" in measured(dataset)}


def leaderboard(dataset: ServedDataset, choice: Choice = Choice()) -> Leaderboard:  # noqa: B008 - frozen
    groups = [*dataset.groups, *dataset.uncounted]
    if not groups:
        return _no_rows(dataset.why_nothing_counts)
    names = dataset.names
    choice = choice._replace(group=choice.group or groups[0])
    for what, values, allowed in (
        ("group", [choice.group], groups),
        ("kind", [choice.kind], [ALL, *names["kind"]]),
        ("category", [choice.category], [ALL, *names["category"]]),
        ("metric", [choice.metric], list(metric_titles(dataset))),
        ("editor", choice.editors, names["editor"]),
    ):
        check_allowed(what, values, allowed)
    if not 0 < choice.threshold <= 1:
        raise UserError(f"the threshold must be above 0 and at most 1, got {choice.threshold:g}")
    return _leaderboard(dataset, choice)


def _no_rows(
    why: str, group: CaseGroup | None = None, outcomes: dict[str, list[Outcome]] | None = None
) -> Leaderboard:
    return Leaderboard(make_table(statistic, [], why), make_table(pairs, []), group, outcomes or {})


@lru_cache(maxsize=256)
def _leaderboard(dataset: ServedDataset, choice: Choice) -> Leaderboard:
    group = _chosen_group(dataset, choice)
    if group is None:
        return _no_rows("No tests match these filters.")
    is_counted = group.name in dataset.groups
    outcomes = {
        editor: count_failures(
            cases, [_outcome(case, group, choice) if is_counted else _uncounted_outcome(case) for case in cases]
        )
        for editor, cases in group.cases.items()
    }
    if not is_counted:
        why = f"No headline counts these tests ({group.name}). Their curves and failures have tabs of their own."
        return _no_rows(why, group, outcomes)
    compared = compare_group(group, outcomes)
    is_headline = (choice.metric, choice.threshold) == ("convergence", dataset.threshold)
    bounds = dataset.bounds if is_headline else {}
    rows = statistic.group_rows(group, outcomes, compared, choice.threshold, bounds)
    if choice.metric != "convergence":
        rows = [replace(row, name=metric_titles(dataset)[choice.metric]) for row in rows]
    versus = make_table(pairs, pairs.group_rows(group.name, compared))
    return Leaderboard(make_table(statistic, rows), versus, group, outcomes)


def ending_of(dataset: ServedDataset, chain: str, choice: Choice = Choice()) -> Answer:  # noqa: B008 - frozen
    """How a chain ended under a choice, as the page shows it; nulls for chains without a headline and a failure."""
    case = dataset.case_of.get(chain)
    outcome = None
    if case and case.group in dataset.groups | dataset.uncounted:
        board = leaderboard(dataset, choice._replace(group=case.group, kind=ALL, category=ALL, editors=()))
        _, outcome = board.judged.get(chain, (case, None))
    if case is None or (case.group not in dataset.groups and not (outcome and outcome.lost)):
        nothing: Answer = dict.fromkeys(("kept", "cause", "lost_at", "lost_step"))
        return nothing | {"clause": "", "verdict": "", "outline": [], "quality": []}
    checks = dataset.checks_of(case)
    alone = () if choice.metric in ("convergence", "quality") else (choice.metric,)
    end = ending(case, alone or checks, dataset.scores_of(chain), choice.threshold, outcome)
    return end | {"quality": case.quality(checks)}


def _chosen_group(dataset: ServedDataset, choice: Choice) -> CaseGroup | None:
    if (choice.kind, choice.category, choice.editors) == (ALL, ALL, ()):
        return (dataset.groups | dataset.uncounted).get(choice.group)
    cases = [
        case
        for case in dataset.cases
        if choice.kind in (ALL, case.kind)
        and choice.category in (ALL, case.category)
        and (not choice.editors or case.editor in choice.editors)
    ]
    is_counted = choice.group in dataset.groups
    groups = group_cases(cases, dataset.look_alikes, dataset.apart, dataset.roles, is_counted)
    return groups.get(choice.group)


def _uncounted_outcome(case: Case) -> Outcome:
    """Without a way back a test fails by a step that changes nothing, or by no answer."""
    outcome = outcome_of_case(case, ("edits",))
    return outcome if outcome.lost or case.end == "failed" else Outcome(case.rounds)


def _outcome(case: Case, group: CaseGroup, choice: Choice) -> Outcome:
    checks = group.checks_of(case.editor)
    if choice.metric == "convergence":
        return outcome_of_case(case, checks, choice.threshold)
    values = case.quality(checks) if choice.metric == "quality" else case.values(f"retained_{choice.metric}")
    outcome = outcome_of_curve(case, values, choice.threshold)
    lost_to = "meaning lost" if choice.metric in MEANINGS else "quality lost"
    return replace(outcome, cause=lost_to) if outcome.cause == "below the threshold" else outcome
