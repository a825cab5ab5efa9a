"""Whether each step of a chain made its edit or took it back, judged from what its round looks like."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy

from ..edit_applied import judge, looks, transforms
from .cases import Case, Shot
from .measures import Measure, Pictures, Values

NAME = "edit_applied"
COLUMNS = ("edit_applied", "edit_undone", "undo_ratio")
FIELDS = {"applied": "edit_applied", "undone": "edit_undone", "undo_ratio": "undo_ratio"}


class View(NamedTuple):
    """What is kept of a picture until its chain is judged: its look, and what CLIP makes of it where CLIP is there."""

    look: numpy.ndarray | None
    meaning: numpy.ndarray | None = None


@dataclass(frozen=True)
class Edits:
    """The judge; with CLIP, its direction must agree."""

    embed: Callable[[Pictures], Sequence[numpy.ndarray]] | None = None
    words: Callable[[str], numpy.ndarray] | None = None
    release: Callable[[], None] | None = None

    @property
    def measure(self) -> Measure:
        """Takes the judge's place among the metrics; what it says waits until the whole chain has been seen."""
        signature = (
            f"edit_applied/1 side={looks.SIDE} cell={looks.CELL} reach={looks.REACH} drift={looks.DRIFT:g} "
            f"visible={looks.VISIBLE:g} share={judge.SHARE:g} small={judge.SHARE_SMALL:g} undone={judge.UNDONE:g} "
            f"margin={transforms.MARGIN:g} clip={'yes' if self.words else 'no'}"
        )
        return Measure(
            NAME,
            COLUMNS,
            signature,
            lambda picture: None,
            lambda known, pictures, _: [{} for _ in pictures],
            release=self.release,
        )

    def views(self, looks: Sequence[numpy.ndarray | None], pictures: Pictures) -> list[View]:
        """What is kept of some pictures."""
        meanings = self.embed(pictures) if self.embed and self.words else [None] * len(pictures)
        return [View(look, meaning) for look, meaning in zip(looks, meanings, strict=True)]

    def judged(self, case: Case, views: Mapping[object, View]) -> dict[int, Values]:
        """The judgement of every scored step, by its number; equal rounds are judged once."""
        shots: dict[int, Shot | None] = {0: case.input} | {shot.step: shot for shot in case.steps}
        text = self.words(case.chain["shows"]) if self.words and case.chain["shows"] else None
        known: dict[tuple[object, ...], Values] = {}
        rows = {}
        for shot in (shot for shot in case.steps if shot.scored):
            round = [shots.get(number) for number in range(shot.step - shot.position, shot.step + 1)]
            key = (shot.position, *(one and one.key for one in round))
            if key not in known:
                seen = [views.get(one.key, View(None)) if one else View(None) for one in round]
                known[key] = values(
                    judge.judge_step(
                        case.cycle,
                        case.chain["closes"],
                        shot.position,
                        [view.look for view in seen],
                        small=case.small,
                        meaning=likenesses(seen, text),
                    )
                )
            rows[shot.step] = known[key]
        return rows


def likenesses(seen: Sequence[View], text: Any) -> list[float] | None:
    """How like each picture is to the words for what the forward picture shows; None where that cannot be told."""
    if text is None or any(view.meaning is None for view in seen):
        return None
    return [judge.likeness(view.meaning, text) for view in seen]  # type: ignore[arg-type]


def look(picture: numpy.ndarray) -> numpy.ndarray:
    return looks.look(picture)


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
