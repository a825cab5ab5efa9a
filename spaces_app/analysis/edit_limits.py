"""Edits judged again under other limits than the scores were made with, from the numbers that the scores hold.

Whether CLIP's direction agreed is known only where the picture's own check passed; elsewhere it is taken to agree.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from convergebench.metric_modules.edit_applied.judge import EXPLAINED, LEFT, SHARE, SHARE_SMALL
from convergebench.metric_modules.scores import ScoreRow

from .cases import Case, case_of_chain
from .floors import Floors
from .stored_rows import StoredRows, by_chain, narrow, rows_of

# What `judge_again` looks at.
JUDGED = (
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
    """The cases of a dataset under other limits; only those that change are made anew."""

    def __init__(self, cases: Iterable[Case], scores: Sequence[ScoreRow] | StoredRows[ScoreRow], floors: Floors):
        self.cases = {case.chain.id: case for case in cases}
        self.floors = floors
        self.scores = scores

    def has_numbers(self, column: str) -> bool:
        rows = narrow(self.scores, ["chain", column])
        return any(row.value(column) is not None for row in rows if row.chain in self.cases)

    def changed(self, limits: EditLimits) -> dict[str, Case]:
        """The cases that another judgement of some step changes, by chain."""
        changed = set()
        for row in narrow(self.scores, JUDGED):
            case = self.cases.get(row.chain)
            if case and row.chain not in changed and judge_again(row, limits, case.chain.program.small) is not row:
                changed.add(row.chain)
        rows = rows_of(self.scores, changed)
        found = {}
        for name, own in by_chain(rows):
            chain = self.cases[name].chain
            again = [judge_again(row, limits, chain.program.small) for row in own]
            found[name] = case_of_chain(chain, again, self.floors)
        return found


def judge_again(row: ScoreRow, limits: EditLimits, small: bool = False) -> ScoreRow:
    """The row with its edit and part judged under these limits; the row itself where nothing changes.

    >>> judge_again(ScoreRow.from_scores({"edit_undone": True, "undo_ratio": 0.3}), EditLimits(left=0.2)).edit_undone
    False
    """
    changes: dict[str, bool] = {}
    made, share = row.edit_applied, row.edit_share
    if made is not None and share is not None:
        least, usual = ((each * SHARE_SMALL / SHARE if small else each) for each in (limits.share, SHARE))
        changes["edit_applied"] = share >= least and (made or share < usual)
    undone, ratio = row.edit_undone, row.undo_ratio
    part = row.part_lost
    areas = [share for share in (row.part_lost_share, row.part_redrawn_share) if share is not None]
    lost_by_undo = None
    if undone is not None and ratio is not None and not is_geometric(row):
        another = row.undo_explained is not None and row.undo_explained < EXPLAINED
        changes["edit_undone"] = (ratio <= limits.left or another) and (undone or (ratio > LEFT and not another))
        lost_by_undo = ratio > limits.left and changes["edit_undone"]
    if part is not None and (areas or lost_by_undo is not None):
        changes["part_lost"] = bool(lost_by_undo) or max(areas, default=0.0) >= limits.part
    changes = {column: value for column, value in changes.items() if value != row.value(column)}
    return ScoreRow.from_values({**row.values, **changes}) if changes else row


def is_geometric(row: ScoreRow) -> bool:
    """Whether the edit moves the whole picture, and an exact oracle judges it without any limit."""
    reason = row.missing.get("undo_explained") if row.undo_explained is None else None
    return reason is not None and reason.code == "whole_picture"
