"""The tab of failures: every case that was lost, with the round, the reason and the step to look at."""

from collections import Counter
from functools import lru_cache
from typing import Any, NamedTuple

from convergebench.generation.records import UserError
from convergebench.metric_modules.halflife.outcomes import CAUSES, Outcome

from ..analysis.cases import Case
from ..analysis.groups import HALF
from ..analysis.reasons import TITLES, losing_step, loss_clause, lost_outline
from .leaderboard import ALL, Choice, leaderboard
from .served_dataset import ServedDataset

PAGE = 60  # failures in one answer
SORTS = {"first": "Earliest failure", "last": "Latest failure", "editor": "By editor", "picture": "By picture"}


class Failure(NamedTuple):
    case: Case
    outcome: Outcome


@lru_cache(maxsize=32)
def lost_cases(dataset: ServedDataset, group: str, kind: str, category: str) -> tuple[list[Failure], Any]:
    """The lost cases of every editor under the filters, in the order of the rounds in which they were lost."""
    found = leaderboard(dataset, Choice(group, kind, category))
    if found.group is None:
        return [], None
    lost = [
        Failure(case, outcome)
        for editor, cases in found.group.cases.items()
        for case, outcome in zip(cases, found.outcomes[editor], strict=True)
        if outcome.lost
    ]
    return sorted(lost, key=lambda each: (each.outcome.lost_at, each.case.editor, each.case.key)), found.group


def chosen_failures(
    dataset: ServedDataset,
    editor: str = "",
    cause: str = "",
    program: str = "",
    group: str = "",
    kind: str = ALL,
    category: str = ALL,
    sort: str = "first",
) -> tuple[list[Failure], dict[str, int], Any]:
    """The failures that match, how many of each cause match all other filters, and the group they belong to.

    Without a named editor, baselines are left out: that they fail is their purpose.
    """
    if editor and editor not in dataset.names["editor"]:
        raise UserError(f"no editor {editor[:40]!r}; the editors are {', '.join(dataset.names['editor'])}")
    if cause and cause not in CAUSES:
        raise UserError(f"no cause {cause[:40]!r}; the causes are {', '.join(CAUSES)}")
    if sort not in SORTS:
        raise UserError(f"no order {sort[:40]!r}; it is one of {', '.join(SORTS)}")
    lost, counted = lost_cases(dataset, group, kind, category)
    tested = [each for each in lost if dataset.is_tested(each.case.editor)]
    wanted = [
        each
        for each in (lost if editor or not tested else tested)
        if editor in ("", each.case.editor) and program in ("", each.case.program)
    ]
    causes = Counter(str(each.outcome.cause) for each in wanted)
    wanted = [each for each in wanted if cause in ("", each.outcome.cause)]
    if sort == "last":
        wanted.reverse()
    elif sort != "first":
        wanted.sort(key=lambda each: each.case.editor if sort == "editor" else each.case.source)
    return wanted, {name: causes[name] for name in CAUSES if causes[name]}, counted


def failures(dataset: ServedDataset, start: int = 0, **filters: Any) -> dict[str, Any]:
    """A page of failures, 60 at a time, with how many there are in all and of each cause."""
    wanted, causes, counted = chosen_failures(dataset, **filters)
    return {
        "total": len(wanted),
        "causes": [{"cause": name, "title": TITLES[name], "count": count} for name, count in causes.items()],
        "rows": [
            failure_row(dataset, each, counted.checks_of(each.case.editor)) for each in wanted[max(start, 0) :][:PAGE]
        ],
    }


def failure_row(dataset: ServedDataset, failure: Failure, checks: tuple[str, ...]) -> dict[str, Any]:
    """One failure; `step` is the one in which it was lost."""
    case, outcome = failure
    scores = dataset.scores_of(case.chain.id)
    step = losing_step(case, outcome, scores)
    return {
        "chain": case.chain.id,
        "editor": case.editor,
        "source": case.source,
        "program": case.program,
        "run": case.chain.run,
        "rounds": case.rounds,
        "kept": outcome.kept,
        "lost_at": outcome.lost_at,
        "step": step,
        "cause": outcome.cause,
        "clause": loss_clause(case, outcome, checks, HALF, scores.get(step or -1)),
        "outline": lost_outline(scores.get(step or -1)),
    }


def neighbours(dataset: ServedDataset, chain: str, **filters: Any) -> dict[str, Any]:
    """The place of a chain among the failures, and the chains and steps of the one before and the one after."""
    wanted, _, _ = chosen_failures(dataset, **filters)
    ids = [each.case.chain.id for each in wanted]
    place = ids.index(chain) if chain in ids else -1

    def at(other: int) -> dict[str, Any] | None:
        if not 0 <= other < len(wanted):
            return None
        case, outcome = wanted[other]
        return {"chain": case.chain.id, "step": losing_step(case, outcome, dataset.scores_of(case.chain.id))}

    return {"place": place, "total": len(ids), "before": at(place - 1) if place > 0 else None, "after": at(place + 1)}
