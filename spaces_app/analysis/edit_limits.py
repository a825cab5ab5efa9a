"""Judges edits again under limits other than those of the scores, from the numbers in the scores.

Whether CLIP's direction agreed is known only if the picture's own check passed; otherwise it is taken to agree.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from convergebench.metric_modules.edit_applied.judge import EXPLAINED, LEFT, SHARE, SHARE_SMALL
from convergebench.metric_modules.scores import ScoreRow

from .cases import Case, case_of_chain
from .floors import Floors
from .stored_rows import StoredRows, by_chain, narrow, rows_of

# The columns that `judge_again` reads.
_JUDGED = (
    "chain", "edit_applied", "edit_share", "edit_undone", "undo_ratio", "undo_explained",
    "part_lost", "part_lost_share", "part_redrawn_share", "reasons",
)  # fmt: skip


@dataclass(frozen=True)
class EditLimits:
    """The least that an edit covers, the most that may be left of it, and the least that a lost part covers."""

    share: float = SHARE
    left: float = LEFT
    part: float = SHARE


class RejudgedCases:
    """The cases of a dataset under other limits; only those that change are made again."""

    def __init__(self, cases: Iterable[Case], scores: Sequence[ScoreRow] | StoredRows[ScoreRow], floors: Floors):
        self.cases = {case.chain.id: case for case in cases}
        self.floors = floors
        self.scores = scores

    def has_numbers(self, column: str) -> bool:
        rows = narrow(self.scores, ["chain", column])
        return any(row.value(column) is not None for row in rows if row.chain in self.cases)

    def changed(self, limits: EditLimits) -> dict[str, Case]:
        """The cases in which these limits change the judgement of a step, by chain."""
        changed = set()
        for row in narrow(self.scores, _JUDGED):
            case = self.cases.get(row.chain)
            if case and row.chain not in changed and judge_again(row, limits, case.chain.program.small) is not row:
                changed.add(row.chain)
        cases = {}
        for name, rows in by_chain(rows_of(self.scores, changed)):
            chain = self.cases[name].chain
            judged = [judge_again(row, limits, chain.program.small) for row in rows]
            cases[name] = case_of_chain(chain, judged, self.floors)
        return cases


def judge_again(row: ScoreRow, limits: EditLimits, small: bool = False) -> ScoreRow:
    """The row with its edit and part judged under these limits; the row itself if nothing changes.

    >>> judge_again(ScoreRow.from_scores({"edit_undone": True, "undo_ratio": 0.3}), EditLimits(left=0.2)).edit_undone
    False
    """
    undone = _undone_again(row, limits)
    judged = {
        "edit_applied": _applied_again(row, limits, small),
        "edit_undone": undone,
        "part_lost": _part_lost_again(row, limits, undone),
    }
    changes = {column: value for column, value in judged.items() if value is not None and value != row.value(column)}
    return ScoreRow.from_values({**row.values, **changes}) if changes else row


def _applied_again(row: ScoreRow, limits: EditLimits, small: bool) -> bool | None:
    if row.edit_applied is None or row.edit_share is None:
        return None
    factor = SHARE_SMALL / SHARE if small else 1
    return row.edit_share >= limits.share * factor and (row.edit_applied or row.edit_share < SHARE * factor)


def _undone_again(row: ScoreRow, limits: EditLimits) -> bool | None:
    # An edit that moves the whole picture is judged by an exact oracle, without any limit.
    reason = row.missing.get("undo_explained") if row.undo_explained is None else None
    is_geometric = reason is not None and reason.code == "whole_picture"
    if row.edit_undone is None or row.undo_ratio is None or is_geometric:
        return None
    another = row.undo_explained is not None and row.undo_explained < EXPLAINED
    return (row.undo_ratio <= limits.left or another) and (row.edit_undone or (row.undo_ratio > LEFT and not another))


def _part_lost_again(row: ScoreRow, limits: EditLimits, undone: bool | None) -> bool | None:
    """An undo that leaves more than its limit, and counts as made, has lost a part."""
    areas = [share for share in (row.part_lost_share, row.part_redrawn_share) if share is not None]
    if row.part_lost is None or (not areas and undone is None):
        return None
    lost_by_undo = bool(undone) and row.undo_ratio is not None and row.undo_ratio > limits.left
    return lost_by_undo or max(areas, default=0.0) >= limits.part
