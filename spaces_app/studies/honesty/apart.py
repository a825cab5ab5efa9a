"""Lists editors apart that the recall audit or a check of honesty finds fault with."""

from ...analysis.analysis import Analysis
from ...analysis.groups import merge_reasons
from ...analysis.honesty_checks import failed_checks, honesty_of
from ...analysis.recall_outcomes import confirmed_recall, recall_of, unjudged_recall

RECALL = "it remembers the original: confirmed by the recall audit"
UNJUDGED = "no chain of it could be judged by the recall audit"


def reasons(analysis: Analysis) -> dict[str, tuple[str, ...]]:
    """The reasons of every editor that is listed apart, in the order of the checks."""
    recall = analysis.once(recall_of)
    recalled = dict.fromkeys(confirmed_recall(recall), (RECALL,))
    unjudged = dict.fromkeys(unjudged_recall(recall), (UNJUDGED,))
    return merge_reasons(recalled, unjudged, failed_checks(analysis.once(honesty_of)))
