"""One case for a reader: why it was lost, and the frames that show it."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.edit_applied.cycles import roles
from convergebench.metric_modules.halflife.causes import CAUSES, PART
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.scores import ScoreRow

from .cases import COLUMNS, MEANINGS, QUALITIES, Case, CaseKey, spread_rounds
from .groups import HALF, CaseGroup, OutcomesByEditor
from .program_groups import step_label

TITLES = {cause.name: cause.title for cause in CAUSES.values()}  # for headings and filters
_RETURNS = 4  # in a strip
_ON_PHONES = 4  # frames


def loss_clause(
    case: Case, outcome: Outcome, checks: Sequence[str], threshold: float = HALF, row: ScoreRow | None = None
) -> str:
    """'edit not undone, 62% of it still there'; `row` is that of the step."""
    if outcome.lost_at is None:
        return ""
    cause, place = CAUSES[str(outcome.cause)], outcome.lost_at - 1
    if cause.decided_by in ("quality", "meaning") and place < case.rounds:
        metrics = QUALITIES if cause.decided_by == "quality" else MEANINGS
        values = {name: case.judged(name)[place] for name in metrics if name in checks}
        measured = {name: value for name, value in values.items() if value is not None}
        if measured:
            name = min(measured, key=lambda metric: measured[metric])
            return f"{COLUMNS[name].title} {_below(measured[name], threshold)} < {threshold:.0%}"
    ratio = row.undo_ratio if row else None
    if cause.decided_by == "undone" and ratio is not None and math.isfinite(ratio):
        return f"{cause.clause}, {min(ratio, 1):.0%} of it still there"
    if cause.decided_by == "part" and row and row.damage is not None:
        return f"{cause.clause}, damage {row.damage:.2f} >= {PART.limit:.2f}"
    return cause.clause


def _below(value: float, threshold: float) -> str:
    """A share below a threshold, never rounded up to it.

    >>> _below(0.4996, 0.5), _below(0.45, 0.5)
    ('49%', '45%')
    """
    rounded = f"{value:.0%}"
    return rounded if rounded != f"{threshold:.0%}" else f"{math.floor(value * 100)}%"


def verdict_words(case: Case, outcome: Outcome, clause: str) -> str:
    """How a case ended. A percentage is never next to a word that it could seem to be a share of."""
    rounds = f"{case.rounds} round{'s' if case.rounds > 1 else ''}"
    if outcome.lost_at is None:
        return "not measured to the end" if outcome.failed else f"survives all {rounds}"
    return f"fails in round {outcome.lost_at} of {case.rounds}: {clause}"


def losing_step(case: Case, outcome: Outcome, scores: Mapping[int, ScoreRow]) -> int | None:
    if outcome.lost_at is None:
        return None
    cycle = case.chain.program.cycle
    first = (outcome.lost_at - 1) * len(cycle)
    if CAUSES[str(outcome.cause)].decided_by in ("changed", "as_asked"):
        forward = _forward_places(cycle, case.chain.program.closes)
        rows = {place: scores.get(first + place) for place in forward}
        missed = [place for place, row in rows.items() if row and False in (row.edit_changed, row.edit_as_asked)]
        return first + (missed or forward or [len(cycle)])[0]
    last = case.chain.calls if case.end != "complete" else case.rounds * len(cycle)
    return max(1, min(first + len(cycle), last))


def _forward_places(cycle: Sequence[str], closes: bool) -> list[int]:
    return [place for place, role in enumerate(roles(cycle, closes), 1) if role.kind == "forward"]


def lost_outline(row: ScoreRow | None) -> list[list[list[float]]]:
    """The polygons around the part that a step lost, as points from 0 to 1.

    >>> polygons = '{"polygons": [[[0.1, 0.2], [0.3, 0.2], [0.3, 0.5]]]}'
    >>> lost_outline(ScoreRow.from_scores({"damage_outline": polygons}))
    [[[0.1, 0.2], [0.3, 0.2], [0.3, 0.5]]]
    """
    outline = row.damage_outline if row else None
    return list(json.loads(outline)["polygons"]) if outline else []


def lost_places(row: ScoreRow | None) -> list[tuple[float, float]]:
    """The ends of the largest part that a step lost."""
    points = max(lost_outline(row), key=len, default=[])
    return [(end(x for x, _ in points), end(y for _, y in points)) for end in (min, max)] if points else []


def typical_cases(
    group: CaseGroup, outcomes: OutcomesByEditor, tested: Sequence[str], shown: Sequence[str]
) -> list[CaseKey]:
    """Keys, first those on which each editor lasts about as long as on average."""
    distance: dict[CaseKey, list[float]] = {}
    for editor in tested:
        mean = sum(outcome.kept for outcome in outcomes[editor]) / len(outcomes[editor])
        for case, outcome in zip(group.cases[editor], outcomes[editor], strict=True):
            distance.setdefault(case.key, []).append(abs(outcome.kept - mean))
    keys = [{case.key for case in group.cases[editor]} for editor in shown]
    common = set.intersection(*keys) or keys[0]
    return sorted(common, key=lambda key: (-len(distance[key]), sum(distance[key]) / len(distance[key]), key))


def frames_of(case: Case, checks: Sequence[str], lost_step: int | None) -> list[dict[str, Any]]:
    """The frames of a strip; phones leave out the spare ones."""
    length = len(case.chain.program.cycle)
    quality = case.quality(checks)
    forward = _forward_places(case.chain.program.cycle, True)[:1]
    returns = [round * length for round in spread_rounds(case.rounds, _RETURNS)]
    steps = [0, *forward, *returns]
    if lost_step and lost_step not in steps:
        steps[steps.index(min(returns, key=lambda step: abs(step - lost_step)))] = lost_step
    frames = []
    for step in sorted(steps):
        round, is_return = -(-step // length), step % length == 0
        value = quality[round - 1] if step and is_return and round <= len(quality) else None
        frames.append(
            {
                "step": step,
                "label": step_label(case.group, round) if is_return else f"edited {round}",
                "share": None if value is None else f"{value:.0%} kept",
                "is_there": step <= case.chain.calls,
                "is_loss": step == lost_step,
                "is_spare": 0 < step < case.rounds * length and step not in (lost_step, *forward),
            }
        )
    spare = [frame for frame in frames if frame["is_spare"]]
    if spare and len(frames) - len(spare) < _ON_PHONES:
        spare[len(spare) // 2]["is_spare"] = False
    return frames
