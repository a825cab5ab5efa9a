"""A judge that knows where the editor `paint` drew each addition, and what covers it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from convergebench.generation.calls import Unusable
from convergebench.generation.editors.paint import drawing, instructions, placing
from convergebench.generation.records import Answer, FinishedChain
from numpy.typing import NDArray
from PIL import Image

from ..asks import Ask
from ..questions import Question
from . import BaseJudge, Shown

_QUESTIONS = ("edit_applied", "object_count", "additions_there")
_VISIBLE_SHARE = 0.5  # of a thing; with less it does not count
_LEAST_COVERAGE = 0.3  # of a pixel, to belong to a thing

# Where a thing is: left and top of its box, and the pixels of the box that it covers.
Drawn = tuple[int, int, NDArray[np.bool_]]


@dataclass(frozen=True)
class Judge(BaseJudge):
    """Draws each of paint's additions again from its seed, and computes how much of it later ones cover."""

    concurrency = 2
    drifts = False

    def knows(self, question: Question, chain: FinishedChain) -> bool:
        is_paint = chain.editor.partition(":")[0] == "paint" and "audit" not in chain.chain.settings
        return is_paint and not chain.program.closes and question.name in _QUESTIONS

    @cached_property
    def _cache(self) -> dict[tuple[str, int], Drawn]:
        return {}

    def answer(self, shown: Shown) -> Answer:
        ask, read = shown.ask, shown.read
        if ask is None or read is None:
            raise Unusable("paint answers questions about steps only; it writes no undos")
        numbers = [number for number in ask.steps if 0 < number <= ask.step.step]
        drawn = [self._draw(ask, read, number) for number in numbers]
        visible = [number for number in range(1, len(drawn) + 1) if _is_seen(drawn[number - 1], drawn[number:])]
        answers: dict[str, dict[str, object]] = {
            "edit_applied": {"applied": bool(drawn and drawn[-1][2].any())},
            "object_count": {"count": len(visible)},
            "additions_there": {"there": visible},
        }
        return Answer(text=json.dumps(answers[ask.question.name]), cost=0.0, details={"model": "paint"})

    def _draw(self, ask: Ask, read: Callable[[int], Image.Image], number: int) -> Drawn:
        key, step = (ask.chain.id, number), ask.steps[number]
        if key not in self._cache:
            self._cache[key] = _draw_again(np.asarray(read(number - 1)), step.instruction, step.seed or 0)
        return self._cache[key]


def _draw_again(pixels: drawing.Pixels, instruction: str, seed: int) -> Drawn:
    """Where an addition was drawn; an empty box if the instruction is not an addition."""
    request = instructions.parse(instruction)
    if request is None or request.verb != "add":
        return 0, 0, np.zeros((0, 0), np.bool_)
    thing, rng = drawing.all_things()[request.thing], np.random.default_rng(seed)
    place = placing.place_for(pixels, thing, request.side, rng)
    colour = request.colour or placing.standing_out(pixels, thing, place)
    _, cover = drawing.draw_at_size(thing.name, colour, *place[2:])
    (rows, columns), inside = placing.overlap(pixels, place[0], place[1], cover.shape)
    return columns.start, rows.start, cover[inside] > _LEAST_COVERAGE


def _is_seen(thing: Drawn, later: Sequence[Drawn]) -> bool:
    left, top, cover = thing
    uncovered = cover.astype(np.uint8)
    for other_left, other_top, other in later:
        (rows, columns), inside = placing.overlap(uncovered, other_left - left, other_top - top, other.shape)
        uncovered[rows, columns][other[inside]] = 0
    return bool(cover.any() and uncovered.sum() >= _VISIBLE_SHARE * cover.sum())
