"""One typical case of a group, and its frames: the original, the first edit, some returns, the step of the loss."""

from collections.abc import Sequence
from typing import NamedTuple

from convergebench.metric_modules.edit_applied.cycles import roles

from .cases import Case, CaseKey, spread_rounds
from .groups import CaseGroup, OutcomesByEditor, lowest_quality

_RETURNS = 4  # in a strip
_ON_PHONES = 4  # frames


class CaseFrame(NamedTuple):
    """One frame of a strip."""

    step: int
    label: str
    share: str | None  # of quality that was retained, for a return
    exists: bool  # whether the chain has this step
    is_loss: bool
    is_spare: bool  # left out on phones


def typical_cases(
    group: CaseGroup, outcomes: OutcomesByEditor, tested: Sequence[str], shown: Sequence[str]
) -> list[CaseKey]:
    """Keys of cases, the most typical first: those on which each editor lasts about as long as it does on average.

    Only cases that all editors of `shown` have, if they have any in common.
    """
    distance: dict[CaseKey, list[float]] = {}
    for editor in tested:
        mean = sum(outcome.kept for outcome in outcomes[editor]) / len(outcomes[editor])
        for case, outcome in zip(group.cases[editor], outcomes[editor], strict=True):
            distance.setdefault(case.key, []).append(abs(outcome.kept - mean))
    keys = [{case.key for case in group.cases[editor]} for editor in shown]
    common = set.intersection(*keys) or keys[0]
    return sorted(common, key=lambda key: (-len(distance[key]), sum(distance[key]) / len(distance[key]), key))


def case_at(group: CaseGroup, editor: str, key: CaseKey) -> Case | None:
    return next((case for case in group.cases[editor] if case.key == key), None)


def frames_of(case: Case, checks: Sequence[str], lost_step: int | None) -> list[CaseFrame]:
    """The original, the first edit and a few returns; the step in which the case was lost is always among them."""
    length = len(case.chain.program.cycle)
    quality = lowest_quality(case, checks)
    forward = [place for place, role in enumerate(roles(case.chain.program.cycle, True), 1) if role.kind == "forward"]
    returns = [round * length for round in spread_rounds(case.rounds, _RETURNS)]
    steps = [0, *forward[:1], *returns]
    if lost_step and lost_step not in steps:
        steps[steps.index(min(returns, key=lambda step: abs(step - lost_step)))] = lost_step
    frames = []
    for step in sorted(steps):
        round, is_return = -(-step // length), step % length == 0
        value = quality[round - 1] if step and is_return and round <= len(quality) else None
        verb = ("undone" if forward else "round") if is_return else "edited"
        frames.append(
            CaseFrame(
                step,
                f"{verb} {round}" if step else "original",
                None if value is None else f"{value:.0%}",
                exists=step <= case.chain.calls,
                is_loss=step == lost_step,
                is_spare=0 < step < case.rounds * length and step not in (lost_step, *forward[:1]),
            )
        )
    spare = [place for place, frame in enumerate(frames) if frame.is_spare]
    if spare and len(frames) - len(spare) < _ON_PHONES:
        place = spare[len(spare) // 2]
        frames[place] = frames[place]._replace(is_spare=False)
    return frames
