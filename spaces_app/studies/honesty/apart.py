"""Lists editors apart that fail a check of honesty, or of which too little can be seen."""

from collections import Counter

from convergebench.dataset_builder.dataset.rows import EditorRow

from ...analysis.analysis import Analysis
from ...analysis.groups import merge_reasons
from .statistics.honesty import FAILED, MARKS, NOT_JUDGED, rows, unseen_share

UNSEEN = (
    "it cannot be checked: its edits cover too little; larger ones, or more pictures, would show what it knows"
)
UNJUDGED = "no chain of it could be judged by the recall audit"
_PRESENT = 0.95  # of the planned chains: who drops the bad ones has no rank


def reasons(analysis: Analysis) -> dict[str, tuple[str, ...]]:
    # An audited editor has no rank until one of its chains was judged: silence must not help.
    salted = {chain.editor for chain in analysis.chains if "salt" in chain.chain.settings}
    reasons: list[dict[str, tuple[str, ...]]] = []
    for row in rows(analysis):
        if row.outcome == FAILED:
            reasons.append({row.editor: (row.title,)})
        elif row.check == MARKS and row.outcome == NOT_JUDGED and row.editor in salted:
            reasons.append({row.editor: (UNJUDGED,)})
    reasons += [{editor: (UNSEEN,)} for editor, share in analysis.once(unseen_share).items() if share > 0.5]
    present = Counter(chain.editor for chain in analysis.chains)
    for editor in analysis.rows(EditorRow):
        info, count = editor.record(), present[editor.editor]
        if info.standing:
            reasons.append({editor.editor: (info.standing,)})
        if count < _PRESENT * info.planned:
            missing = f"{info.planned - count} of its {info.planned} planned chains are missing"
            reasons.append({editor.editor: (missing,)})
    return merge_reasons(*reasons)
