"""Failures: every case that was lost, and why."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from convergebench.generation.records import UserError
from convergebench.metric_modules.halflife.causes import CAUSES
from convergebench.metric_modules.halflife.outcomes import Outcome

from ...analysis.cases import Case
from ...analysis.groups import CaseGroup
from ...analysis.reasons import TITLES, losing_step
from ..chains.tab import chain_facts
from ..headline import ALL, Choice, leaderboard
from ..served_dataset import Answer, ServedDataset, check_allowed

TITLE, ORDER = "Failures", 20
_PAGE = 60  # failures in one answer
_FILTERS = ("", "", "", "", ALL, ALL, "first")  # editor, cause, program, group, kind, category and sort
_SORTS = {"first": "Earliest failure", "last": "Latest failure", "editor": "By editor", "picture": "By picture"}
_Failure = tuple[Case, Outcome]


@lru_cache(maxsize=32)
def _lost_cases(
    dataset: ServedDataset, group: str, kind: str, category: str
) -> tuple[list[_Failure], CaseGroup | None]:
    board = leaderboard(dataset, Choice(group, kind, category))
    lost = [
        (case, outcome)
        for editor, cases in (board.group.cases if board.group else {}).items()
        for case, outcome in zip(cases, board.outcomes[editor], strict=True)
        if outcome.lost
    ]
    return sorted(lost, key=lambda failure: (failure[1].lost_at, failure[0].editor, failure[0].key)), board.group


def _chosen_failures(
    dataset: ServedDataset, filters: Sequence[str]
) -> tuple[list[_Failure], dict[str, int], CaseGroup | None]:
    """The failures that match, their number by cause, and their group.

    Unless an editor is named, baselines are left out: they are meant to fail.
    """
    if len(filters) > len(_FILTERS):
        raise UserError(f"{len(filters)} filters were given; there are {len(_FILTERS)}")
    editor, cause, program, group, kind, category, sort = (*filters, *_FILTERS[len(filters) :])
    dataset.check_editors(filter(None, [editor]))
    check_allowed("cause", filter(None, [cause]), CAUSES)
    check_allowed("order", [sort], _SORTS)
    lost, counted = _lost_cases(dataset, group, kind, category)
    tested = [failure for failure in lost if dataset.is_tested(failure[0].editor)]
    matching = [
        (case, outcome)
        for case, outcome in (lost if editor or not tested else tested)
        if editor in ("", case.editor) and program in ("", case.program)
    ]
    causes = Counter(str(outcome.cause) for _, outcome in matching)
    matching = [failure for failure in matching if cause in ("", failure[1].cause)]
    if sort == "last":
        matching.reverse()
    elif sort != "first":
        matching.sort(key=lambda failure: failure[0].editor if sort == "editor" else failure[0].source)
    return matching, {name: causes[name] for name in CAUSES if causes[name]}, counted


def failures(
    dataset: ServedDataset,
    editor: str = "",
    cause: str = "",
    program: str = "",
    group: str = "",
    kind: str = ALL,
    category: str = ALL,
    sort: str = "first",
    start: int = 0,
) -> dict:
    """Lost cases, 60 at a time: the round, the cause, the numbers behind it and the step in which it was lost."""
    matching, causes, counted = _chosen_failures(dataset, (editor, cause, program, group, kind, category, sort))
    rows = []
    for case, outcome in matching[max(start, 0) :][:_PAGE]:
        end = dataset.ending(case, counted)
        lost = {"kept": outcome.kept, "lost_at": outcome.lost_at, "cause": outcome.cause, "step": end["lost_step"]}
        rows.append(chain_facts(case.chain) | end | lost)
    return {
        "total": len(matching),
        "causes": [{"cause": name, "title": TITLES[name], "count": count} for name, count in causes.items()],
        "rows": rows,
    }


def neighbours(dataset: ServedDataset, chain: str, filters: list[str]) -> dict:
    """The place of a chain among the failures, and the failures beside it.

    `filters` are those of `failures`, in their order.
    """
    matching, *_ = _chosen_failures(dataset, filters)
    ids = [case.chain.id for case, _ in matching]
    place = ids.index(chain) if chain in ids else -1

    def at(other: int) -> Answer | None:
        if not 0 <= other < len(matching):
            return None
        case, outcome = matching[other]
        return {"chain": ids[other], "step": losing_step(case, outcome, dataset.scores_of(ids[other]))}

    return {"place": place, "total": len(ids), "before": at(place - 1), "after": at(place + 1)}


def known(dataset: ServedDataset) -> Answer:
    return {"causes": TITLES, "sorts": _SORTS}


PUBLIC = (failures,)
FOR_THE_PAGE = (neighbours,)
