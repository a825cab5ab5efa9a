"""Judges edits again under other limits, from the numbers in the scores.

Whether CLIP's direction agreed is known only if the picture's own check passed; otherwise it is taken to agree.
"""

from convergebench.metric_modules.edit_applied.judge import EXPLAINED, LEFT, SHARE, SHARE_SMALL
from convergebench.metric_modules.scores import ScoreRow

from .analysis import Analysis
from .cases import Case, case_of_chain
from .stored_rows import by_chain, narrow, rows_of

# The columns that `judge_again` reads.
_JUDGED = (
    "chain", "edit_applied", "edit_share", "edit_undone", "undo_ratio", "undo_explained",
    "part_lost", "part_lost_share", "part_redrawn_share", "reasons",
)  # fmt: skip


def judge_cases_again(analysis: Analysis, **limits: float) -> dict[str, Case]:
    is_small = {case.chain.id: case.chain.program.small for case in analysis.cases}
    changed = {
        row.chain
        for row in narrow(analysis.scores, _JUDGED)
        if row.chain in is_small and judge_again(row, is_small[row.chain], **limits) is not row
    }
    chains = {case.chain.id: case.chain for case in analysis.cases}
    return {
        name: case_of_chain(chains[name], [judge_again(row, is_small[name], **limits) for row in rows], analysis.floors)
        for name, rows in by_chain(rows_of(analysis.scores, changed))
    }


def judge_again(
    row: ScoreRow, small: bool = False, *, share: float = SHARE, left: float = LEFT, part: float = SHARE
) -> ScoreRow:
    """The row judged under other limits; the row itself if nothing changes.

    `share` is the least that an edit covers, `left` the most that may be left of it, and
    `part` the least that a lost part covers.

    >>> judge_again(ScoreRow.from_scores({"edit_undone": True, "undo_ratio": 0.3}), left=0.2).edit_undone
    False
    """
    undone = _undone_again(row, left)
    judged = {
        "edit_applied": _applied_again(row, share, SHARE_SMALL / SHARE if small else 1),
        "edit_undone": undone,
        "part_lost": _part_lost_again(row, left, part, undone),
    }
    changes = {column: value for column, value in judged.items() if value is not None and value != row.value(column)}
    return ScoreRow.from_values({**row.values, **changes}) if changes else row


def _applied_again(row: ScoreRow, share: float, factor: float) -> bool | None:
    if row.edit_applied is None or row.edit_share is None:
        return None
    return row.edit_share >= share * factor and (row.edit_applied or row.edit_share < SHARE * factor)


def _undone_again(row: ScoreRow, left: float) -> bool | None:
    # An edit that moves the whole picture is judged by an exact oracle, without any limit.
    reason = row.missing.get("undo_explained") if row.undo_explained is None else None
    is_geometric = reason is not None and reason.code == "whole_picture"
    if row.edit_undone is None or row.undo_ratio is None or is_geometric:
        return None
    another = row.undo_explained is not None and row.undo_explained < EXPLAINED
    return (row.undo_ratio <= left or another) and (row.edit_undone or (row.undo_ratio > LEFT and not another))


def _part_lost_again(row: ScoreRow, left: float, part: float, undone: bool | None) -> bool | None:
    """An undo that counts as made but leaves too much has lost a part."""
    areas = [share for share in (row.part_lost_share, row.part_redrawn_share) if share is not None]
    if row.part_lost is None or (not areas and undone is None):
        return None
    lost_by_undo = bool(undone) and row.undo_ratio is not None and row.undo_ratio > left
    return lost_by_undo or max(areas, default=0.0) >= part
