"""The embedded default: it carries out the suites' instructions without weights, and wears a picture as editors do."""

from dataclasses import dataclass
from typing import ClassVar

import numpy
from numpy.typing import NDArray
from PIL import Image

from ...pictures import encode_png
from ...records import Answer, UserError
from . import expressions, finding, healing, laying, placing, toning, wearing, words
from .drawing import Pixels
from .things import every, look


@dataclass(frozen=True)
class Editor:
    """Draws additions with light and shade, removes them by inpainting what it finds, flips and turns exactly."""

    wear: float = 1.0  # how much each call costs the rest of the picture; 0 leaves it alone
    embedded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.wear <= 4:
            raise UserError(f"paint:wear is {self.wear}; it is a number from 0 to 4")

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        request = words.understand(instruction)
        if request is None:
            return Answer(status="refused", reason=f"paint does not know how to carry out {instruction!r}")
        chance = numpy.random.default_rng(seed)
        pixels = carried_out(numpy.asarray(image), request, chance)
        if isinstance(pixels, str):
            return Answer(status="refused", reason=pixels)
        if request.verb not in ("flip", "turn"):
            pixels = wearing.wear(pixels, self.wear, chance)
        return Answer(encode_png(Image.fromarray(numpy.ascontiguousarray(pixels))))


def carried_out(pixels: Pixels, request: words.Request, chance: numpy.random.Generator) -> Pixels | str:
    """What was asked for and nothing else, or one sentence why it cannot be done."""
    if request.verb == "flip":
        return pixels[:, ::-1] if request.side == "horizontal" else pixels[::-1]
    if request.verb == "turn":
        return numpy.rot90(pixels, -request.amount)
    if request.verb == "add":
        return added(pixels, request, chance)
    if request.verb == "remove":
        return removed(pixels, request)
    if request.thing in ("smile", "neutral"):
        return expressions.smile(pixels) if request.thing == "smile" else expressions.neutral(pixels)
    return toning.TONES[request.thing](pixels) if request.thing else pixels


def added(pixels: Pixels, request: words.Request, chance: numpy.random.Generator) -> Pixels:
    """The picture with the thing in it."""
    thing = every()[request.thing]
    worn = thing.place == "worn"
    place = placing.worn(pixels, thing) if worn else placing.free(pixels, thing, request.side, chance)
    colour = request.colour or placing.standing_out(pixels, thing, place)
    return laying.lay(pixels, thing, look(thing.name, colour, *place[2:]), place)


def removed(pixels: Pixels, request: words.Request) -> Pixels | str:
    """The picture without the thing, or why not."""
    bare = lifted(pixels, request)
    if isinstance(bare, str):
        return bare
    return healing.heal(
        *bare, borrow=every()[request.thing].place != "worn"
    )  # else a second mouth may lie on a forehead


def lifted(pixels: Pixels, request: words.Request) -> tuple[Pixels, NDArray[numpy.bool_]] | str:
    """The picture with a hole where the thing was; a thing of unknown colour may have any, its usual ones first."""
    thing = every()[request.thing]
    found = finding.find(pixels, thing, (request.colour,) if request.colour else thing.colours)
    if found is None and not request.colour:
        found = finding.find_in_any_colour(pixels, thing)
    if found is None:
        return f"paint finds no {request.colour} {thing.name}".replace("  ", " ") + " in the picture to remove"
    return laying.lift(pixels, thing, look(thing.name, found.colour, *found.place[2:]), found.place)
