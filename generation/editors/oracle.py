"""The upper reference for all editors: it undoes exactly, because it may look at the whole history."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from .. import pictures
from ..records import Answer, Turn
from .paint import as_answer, carry_out, instructions
from .paint.toning import OPPOSITES

role = "baseline"
embedded = remembers = True


def edit(image: Image.Image, instruction: str, seed: int, history: Sequence[Turn]) -> Answer:
    """Draws like paint, and on removal puts back exactly what was there, from memory."""
    request = instructions.parse(instruction)
    if request is None:
        return as_answer(f"oracle does not know how to carry out {instruction!r}")
    standing = unreversed_changes(history)
    taken_back = taken_back_by(request, standing)
    if taken_back:
        return as_answer(_replay(history, [step for step, _ in standing if step not in taken_back]))
    if request.verb == "remove":
        return as_answer(f"oracle remembers no {request.thing} that it could remove")
    if request.verb == "copy":
        return as_answer(np.asarray(image))
    drawn = carry_out(np.asarray(image), request, np.random.default_rng(seed))
    return as_answer(drawn.replace("paint", "oracle", 1) if isinstance(drawn, str) else drawn)


def taken_back_by(
    request: instructions.Request, standing: Sequence[tuple[int, instructions.Request]]
) -> list[int]:
    steps = [step for step, earlier in standing if _undoes(request, earlier)]
    return steps if request.thing == "photograph" else steps[-1:]


def _undoes(request: instructions.Request, earlier: instructions.Request) -> bool:
    if request.thing == "photograph":
        return earlier.thing in ("patches", "edges")
    if earlier.verb == "add":
        return request.verb == "remove" and request.thing == earlier.thing
    if earlier.verb in ("recolour", "move"):
        return request.verb == earlier.verb and request.thing == earlier.thing
    return request.verb == earlier.verb == "tone" and request.thing == OPPOSITES.get(earlier.thing)


def unreversed_changes(history: Sequence[Turn]) -> list[tuple[int, instructions.Request]]:
    standing: list[tuple[int, instructions.Request]] = []
    for step, turn in enumerate(history):
        request = instructions.parse(turn.instruction)
        if request is None or request.verb == "copy":
            continue
        taken_back = taken_back_by(request, standing)
        if taken_back:
            standing = [entry for entry in standing if entry[0] not in taken_back]
        elif request.verb != "remove":
            standing.append((step, request))
    return standing


def _replay(history: Sequence[Turn], steps: Sequence[int]) -> NDArray[np.uint8]:
    pixels = _decode_turn(history, 0)
    for step in steps:
        request = instructions.parse(history[step].instruction)
        if request and request.verb in ("flip", "turn"):
            turned = carry_out(pixels, request, np.random.default_rng(0))
            if not isinstance(turned, str):
                pixels = turned
            continue
        before, after = _decode_turn(history, step - 1), _decode_turn(history, step)
        pixels = np.where((before != after).any(2, keepdims=True), _made_again(before, after, pixels), pixels)
    return pixels


def _made_again(
    before: NDArray[np.uint8], after: NDArray[np.uint8], pixels: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    light = (after + 1.0) / (before + 1.0)
    shadow = (light.max(2) <= 1) & (light.min(2) > 0.4) & (np.ptp(light, axis=2) < 0.1)
    is_different = (pixels != before).any(2)
    shaded = np.rint(pixels * light.mean(2, keepdims=True)).astype(np.uint8)
    return np.where((shadow & is_different)[..., None], shaded, after)


def _decode_turn(history: Sequence[Turn], step: int) -> NDArray[np.uint8]:
    return np.asarray(pictures.decode(history[step].data))
