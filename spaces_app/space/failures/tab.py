"""Failures: every case that was lost, and why."""

from collections import Counter
from functools import lru_cache

from convergebench.metric_modules.halflife.causes import CAUSES
from convergebench.metric_modules.halflife.outcomes import Outcome

from ...analysis.cases import Case
from ...analysis.groups import HALF
from ...analysis.reasons import TITLES
from ..chains.tab import chain_facts
from ..headline import ALL, Choice, ending_of, leaderboard
from ..served_dataset import Answer, ServedDataset, check_allowed

TITLE, ORDER = "Failures", 20
_PAGE = 24  # failures in one answer, unless fewer are asked for
_SORTS = {"first": "Earliest failure", "last": "Latest failure", "editor": "By editor", "picture": "By picture"}
_Failure = tuple[Case, Outcome]


@lru_cache(maxsize=32)
def _lost_cases(dataset: ServedDataset, choice: Choice) -> list[_Failure]:
    lost = [failure for failure in leaderboard(dataset, choice).judged.values() if failure[1].lost]
    return sorted(lost, key=lambda failure: (failure[1].lost_at, failure[0].editor, failure[0].key))


def failures(
    dataset: ServedDataset,
    editor: str = "",
    cause: str = "",
    program: str = "",
    group: str = "",
    kind: str = ALL,
    category: str = ALL,
    metric: str = "convergence",
    threshold: float = HALF,
    sort: str = "first",
    start: int = 0,
    most: int = _PAGE,
) -> dict:
    """Lost cases, 24 at a time or fewer: the round, the cause, the numbers behind it and the step in which it was lost.

    Unless an editor is named, baselines are left out: they are meant to fail.
    """
    dataset.check_editors(filter(None, [editor]))
    check_allowed("cause", filter(None, [cause]), CAUSES)
    check_allowed("order", [sort], _SORTS)
    choice = Choice(group, kind, category, metric, threshold)
    lost = _lost_cases_of(dataset, choice, editor, program)
    causes = Counter(str(outcome.cause) for _, outcome in lost)
    matching = _sorted([failure for failure in lost if cause in ("", failure[1].cause)], sort)
    rows = []
    for case, _ in matching[max(start, 0) :][: min(max(most, 1), _PAGE)]:
        end = ending_of(dataset, case.chain.id, choice)
        rows.append(chain_facts(case.chain) | end | {"step": end["lost_step"]})
    titles = [{"cause": name, "title": TITLES[name], "count": causes[name]} for name in CAUSES if causes[name]]
    return {"total": len(matching), "causes": titles, "rows": rows}


def _lost_cases_of(dataset: ServedDataset, choice: Choice, editor: str, program: str) -> list[_Failure]:
    lost = _lost_cases(dataset, choice)
    if not editor:
        lost = [failure for failure in lost if dataset.is_tested(failure[0].editor)] or lost
    return [
        (case, outcome) for case, outcome in lost if editor in ("", case.editor) and program in ("", case.program)
    ]


def _sorted(failures: list[_Failure], sort: str) -> list[_Failure]:
    """The failures, which come with the earliest first."""
    if sort in ("first", "last"):
        return failures[:: 1 if sort == "first" else -1]
    return sorted(failures, key=lambda failure: failure[0].editor if sort == "editor" else failure[0].source)


def page_data(dataset: ServedDataset) -> Answer:
    return {"causes": TITLES, "sorts": _SORTS}


PUBLIC = (failures,)
