"""Lists editors apart that a check of honesty finds fault with."""

from ...analysis.analysis import Analysis
from ...analysis.groups import merge_reasons
from .checks import CHECKS, FAILED, findings, unjudged_under_salt

UNJUDGED = "no chain of it could be judged by the recall audit"


def reasons(analysis: Analysis) -> dict[str, tuple[str, ...]]:
    """The reasons of every editor that is listed apart, in the order of the checks."""
    unjudged = dict.fromkeys(unjudged_under_salt(analysis), (UNJUDGED,))
    failed = [
        {finding.editor: (CHECKS[finding.check].reason,)}
        for finding in analysis.once(findings)
        if finding.verdict.outcome == FAILED
    ]
    return merge_reasons(unjudged, *failed)
