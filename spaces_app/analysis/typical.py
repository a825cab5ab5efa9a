"""One typical case of a group, and its frames: the original, the first edit, some returns, the step of the loss."""

from collections.abc import Sequence
from typing import Any

from convergebench.metric_modules.edit_applied.cycles import roles

from .cases import Case, CaseKey, spread_rounds
from .groups import CaseGroup, OutcomesByEditor, lowest_quality

_RETURNS = 4  # in a strip


def typical_cases(
    group: CaseGroup, outcomes: OutcomesByEditor, tested: Sequence[str], both: Sequence[str]
) -> list[CaseKey]:
    """Keys of cases, the most typical first: those on which each editor lasts about as long as it does on average.

    Only cases that the editors of `both` have are given, where they have any in common.
    """
    distance: dict[CaseKey, list[float]] = {}
    for editor in tested:
        mean = sum(outcome.kept for outcome in outcomes[editor]) / len(outcomes[editor])
        for case, outcome in zip(group.cases[editor], outcomes[editor], strict=True):
            distance.setdefault(case.key, []).append(abs(outcome.kept - mean))
    there = [{case.key for case in group.cases[editor]} for editor in both]
    wanted = set.intersection(*there) or there[0]
    return sorted(wanted, key=lambda key: (-len(distance[key]), sum(distance[key]) / len(distance[key]), key))


def case_at(group: CaseGroup, editor: str, key: CaseKey) -> Case | None:
    return next((case for case in group.cases[editor] if case.key == key), None)


def frames_of(case: Case, checks: Sequence[str], lost_step: int | None) -> list[dict[str, Any]]:
    """The original, the first edit and a few returns; the step in which the case was lost is always among them."""
    cycle, calls = case.chain.program.cycle, case.chain.calls
    quality = lowest_quality(case, checks)
    forward = [place for place, role in enumerate(roles(cycle, True), 1) if role.kind == "forward"]
    returns = [round * len(cycle) for round in spread_rounds(case.rounds, _RETURNS)]
    steps = [0, *forward[:1], *returns]
    if lost_step and lost_step not in steps:
        nearest = min(returns, key=lambda step: abs(step - lost_step))
        steps[steps.index(nearest)] = lost_step
    found = []
    for step in sorted(steps):
        round, is_return = -(-step // len(cycle)), step % len(cycle) == 0
        value = quality[round - 1] if step and is_return and round <= len(quality) else None
        verb = ("undone" if forward else "round") if is_return else "edited"
        found.append(
            {
                "step": step,
                "label": f"{verb} {round}" if step else "original",
                "share": None if value is None else f"{value:.0%}",
                "there": step <= calls,
                "is_loss": step == lost_step,
                "is_spare": 0 < step < case.rounds * len(cycle) and step not in (lost_step, *forward[:1]),
            }
        )
    spare = [frame for frame in found if frame["is_spare"]]
    if spare and len(found) - len(spare) < 4:  # a phone has room for four
        spare[len(spare) // 2]["is_spare"] = False
    return found
