"""Which editors are listed apart, without a rank, and why: what they show cannot be held against the others' numbers.

A check of honesty adds its findings in `reasons_apart`; the report, the Space and leaderboard.json say them. That an
editor was scored with fewer metrics depends on who else is in its table, so `groups.group_cases` finds that itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from convergebench.generation.records import FinishedChain

from .honesty_checks import failed_checks, honesty_rows
from .recall_outcomes import confirmed_recall, recall_rows, unjudged_recall

Row = Mapping[str, Any]
Reasons = Mapping[str, Sequence[str]]  # by editor; an editor without reasons has no entry, or an empty one

RECALL = "it remembers the original: confirmed by the recall audit"
UNJUDGED = "no chain of it could be judged by the recall audit"


def reasons_apart(scores: Iterable[Row], chains: Sequence[FinishedChain]) -> dict[str, tuple[str, ...]]:
    """The reasons of every editor that is listed apart in every table, in the order of the checks."""
    scores = list(scores)
    recall = recall_rows(scores, chains)
    recalled = dict.fromkeys(confirmed_recall(recall), (RECALL,))
    unjudged = dict.fromkeys(unjudged_recall(recall), (UNJUDGED,))
    return merge_reasons(recalled, unjudged, failed_checks(honesty_rows(scores, chains)))


def merge_reasons(*findings: Reasons) -> dict[str, tuple[str, ...]]:
    """The findings of several checks as one: an editor's reasons in the order of the checks, none twice.

    >>> merge_reasons({"a": ["no"], "b": []}, {"a": ["no", "never"]})
    {'a': ('no', 'never')}
    """
    found: dict[str, dict[str, None]] = {}
    for reasons in findings:
        for editor, own in reasons.items():
            for reason in own:
                found.setdefault(editor, {})[reason] = None
    return {editor: tuple(own) for editor, own in found.items()}
