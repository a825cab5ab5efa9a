"""The embedded default editor: it follows the suites' instructions without weights and loses quality as editors do."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ...options import number
from ...pictures import encode_png
from ...records import Answer
from . import finding, healing, instructions, placing, toning
from .drawing import Pixels, all_things, draw_at_size

_STEP_ASIDE = 0.08  # of the picture's width, that a thing is moved

embedded = True


def edit(
    image: Image.Image, instruction: str, seed: int, *, wear: float = number(1.0, least=0, most=4)
) -> Answer:
    """Draws additions with light and shade, removes them by inpainting what it finds, flips and turns exactly.

    `wear` is how much each call costs the rest of the picture; 0 leaves it alone.
    """
    request = instructions.parse(instruction)
    if request is None:
        return as_answer(f"paint does not know how to carry out {instruction!r}")
    chance = np.random.default_rng(seed)
    pixels = carry_out(np.asarray(image), request, chance)
    if not isinstance(pixels, str) and request.verb not in ("flip", "turn"):
        pixels = toning.redraw(pixels, wear, chance)
    return as_answer(pixels)


def as_answer(result: Pixels | str) -> Answer:
    if isinstance(result, str):
        return Answer(status="refused", reason=result)
    return Answer(encode_png(Image.fromarray(np.ascontiguousarray(result))))


def carry_out(pixels: Pixels, request: instructions.Request, chance: np.random.Generator) -> Pixels | str:
    """The picture with only the requested change, or why it is impossible."""
    if request.verb == "flip":
        return pixels[:, ::-1] if request.side == "horizontal" else pixels[::-1]
    if request.verb == "turn":
        return np.rot90(pixels, -request.amount)
    if request.verb == "add":
        return _add(pixels, request, chance)
    if request.verb == "remove":
        return _remove(pixels, request)
    if request.verb in ("recolour", "move"):
        return _change(pixels, request)
    if request.thing == "smile":
        return _add(pixels, instructions.Request("add", "smile"), chance)
    if request.thing == "neutral":
        bare = _remove(pixels, instructions.Request("remove", "smile"))
        return toning.neutral(pixels) if isinstance(bare, str) else bare
    return toning.TONES[request.thing](pixels) if request.thing else pixels


def _add(pixels: Pixels, request: instructions.Request, chance: np.random.Generator) -> Pixels:
    thing = all_things()[request.thing]
    place = placing.place_for(pixels, thing, request.side, chance)
    colour = request.colour or placing.standing_out(pixels, thing, place)
    return placing.composite(pixels, thing, draw_at_size(thing.name, colour, *place[2:]), place)


def _remove(pixels: Pixels, request: instructions.Request) -> Pixels | str:
    bare = lift_off(pixels, request)
    if isinstance(bare, str):
        return bare
    worn = all_things()[request.thing].place == "worn"
    return healing.heal(*bare, borrow=not worn)  # a piece borrowed for a face may hold a second mouth


def _change(pixels: Pixels, request: instructions.Request) -> Pixels | str:
    """The thing is taken off and drawn again, in its new colour or a step aside."""
    thing = all_things()[request.thing]
    match = finding.find_thing(pixels, thing, request.colour)
    bare = _remove(pixels, request)
    if match is None or isinstance(bare, str):
        return bare
    left, top, width, height, mirrored = match.place
    step = {"left": -1, "right": 1}.get(request.side, 0) * round(_STEP_ASIDE * pixels.shape[1])
    place = (left + step, top, width, height, mirrored)
    return placing.composite(bare, thing, draw_at_size(thing.name, request.to or match.colour, *place[2:]), place)


def lift_off(pixels: Pixels, request: instructions.Request) -> tuple[Pixels, NDArray[np.bool_]] | str:
    thing = all_things()[request.thing]
    match = finding.find_thing(pixels, thing, request.colour)
    if match is None:
        return f"paint finds no {request.colour} {thing.name}".replace("  ", " ") + " in the picture to remove"
    return placing.uncomposite(
        pixels, thing, draw_at_size(thing.name, match.colour, *match.place[2:]), match.place
    )
