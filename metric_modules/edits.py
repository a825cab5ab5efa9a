"""Whether each step of a chain made its edit or took it back, judged from the looks of its round."""

from collections.abc import Mapping

import numpy

from .cases import Case, Shot
from .edit_applied import judge, looks, transforms
from .measures import Measure, Values

COLUMNS = ("edit_applied", "edit_undone", "undo_ratio")
FIELDS = {"applied": "edit_applied", "undone": "edit_undone", "undo_ratio": "undo_ratio"}
Looks = Mapping[str | None, numpy.ndarray | None]


def signature() -> str:
    """What the judgements depend on besides the pictures."""
    return (
        f"edit_applied/1 side={looks.SIDE} cell={looks.CELL} reach={looks.REACH} drift={looks.DRIFT:g} "
        f"visible={looks.VISIBLE:g} share={judge.SHARE:g} small={judge.SHARE_SMALL:g} undone={judge.UNDONE:g} "
        f"margin={transforms.MARGIN:g} clip=no"
    )


def measure() -> Measure:
    """Takes its place among the metrics; what it says of a step is judged when the whole chain has been seen."""
    return Measure(
        "edit_applied", COLUMNS, signature(), lambda picture: None, lambda _, pictures, __: [{} for _ in pictures]
    )


def judged(case: Case, seen: Looks) -> dict[int, Values]:
    """The judgement of every scored step, by its number; equal rounds are judged once."""
    cycle, length = case.cycle, len(case.cycle)
    pictures: dict[int, Shot | None] = {0: case.input} | {shot.step: shot for shot in case.steps}
    known: dict[tuple[object, ...], Values] = {}
    rows = {}
    for shot in (shot for shot in case.steps if shot.scored):
        start = shot.step - shot.position
        round = [pictures.get(number) for number in range(start, shot.step + 1)]
        key = (shot.position, *(one and one.sha256 for one in round))
        if key not in known:
            views = [seen.get(one.sha256) if one else None for one in round]
            known[key] = values(
                judge.judge_step(cycle, case.chain["closes"], min(shot.position, length), views, small=case.small)
            )
        rows[shot.step] = known[key]
    return rows


def values(found: judge.Judgement) -> Values:
    """The judgement in the dataset's columns: yes or no, the ratio, or why there is neither."""
    row: Values = {}
    for field, column in FIELDS.items():
        value = getattr(found, field)
        if value is None:
            row[column] = found.reasons.get(field, "not judged")
        else:
            row[column] = float(value) if column == "undo_ratio" else bool(value)
    return row
