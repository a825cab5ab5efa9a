"""Why a case was lost, in one clause with its numbers, and the step in which it was."""

import json
import math
from collections.abc import Mapping, Sequence

from convergebench.metric_modules.edit_applied.cycles import roles
from convergebench.metric_modules.halflife.causes import CAUSES
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.scores import ScoreRow

from .cases import COLUMNS, MEANINGS, QUALITIES, Case
from .groups import HALF

TITLES = {cause.name: cause.title for cause in CAUSES.values()}  # for headings and filters


def loss_clause(
    case: Case, outcome: Outcome, checks: Sequence[str], threshold: float = HALF, row: ScoreRow | None = None
) -> str:
    """'LPIPS 45% < 50%', 'edit not undone, 62% of it left'; empty if nothing was lost.

    `row` holds the scores of the step in which it was lost; with it the clause also has the numbers of edits and areas.
    """
    if outcome.lost_at is None:
        return ""
    cause, place = CAUSES[str(outcome.cause)], outcome.lost_at - 1
    if cause.decided_by in ("quality", "meaning") and place < case.rounds:
        metrics = QUALITIES if cause.decided_by == "quality" else MEANINGS
        values = {name: value for name in metrics if name in checks and (value := case.judged(name)[place]) is not None}
        if values:
            name = min(values, key=lambda metric: values[metric])
            return f"{COLUMNS[name].title} {_below(values[name], threshold)} < {threshold:.0%}"
    ratio = row.undo_ratio if row else None
    if cause.decided_by == "undone" and ratio is not None and math.isfinite(ratio):
        return f"{cause.clause}, {min(ratio, 1):.0%} of it left"
    areas = [area for area in (row.part_lost_share, row.part_redrawn_share) if area is not None] if row else []
    if cause.decided_by == "part_lost" and areas and math.isfinite(max(areas)):
        return f"{max(areas):.1%} of the picture no longer matches"
    return cause.clause


def lost_outline(row: ScoreRow | None) -> list[list[list[float]]]:
    """The polygons around the part that a step lost, as points from 0 to 1; none if no part was lost.

    >>> polygons = '{"polygons": [[[0.1, 0.2], [0.3, 0.2], [0.3, 0.5]]], "rule": "colour"}'
    >>> lost_outline(ScoreRow.from_scores({"part_outline": polygons}))
    [[[0.1, 0.2], [0.3, 0.2], [0.3, 0.5]]]
    """
    outline = row.part_outline if row else None
    return list(json.loads(outline)["polygons"]) if outline else []


def _below(value: float, threshold: float) -> str:
    """A share below a threshold, never rounded up to it.

    >>> _below(0.4996, 0.5), _below(0.45, 0.5)
    ('49%', '45%')
    """
    rounded = f"{value:.0%}"
    return rounded if rounded != f"{threshold:.0%}" else f"{math.floor(value * 100)}%"


def losing_step(case: Case, outcome: Outcome, scores: Mapping[int, ScoreRow]) -> int | None:
    """The step in which the case was lost: the edit that was not made, or else the last of the round."""
    if outcome.lost_at is None:
        return None
    cycle = case.chain.program.cycle
    first = (outcome.lost_at - 1) * len(cycle)
    if CAUSES[str(outcome.cause)].decided_by == "applied":
        forward = [
            place for place, role in enumerate(roles(cycle, case.chain.program.closes), 1) if role.kind == "forward"
        ]
        missed = [place for place in forward if getattr(scores.get(first + place), "edit_applied", None) is False]
        return first + (missed or forward or [len(cycle)])[0]
    last_there = case.chain.calls if case.end != "complete" else case.rounds * len(cycle)
    return max(1, min(first + len(cycle), last_there))
