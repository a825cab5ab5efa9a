"""The embedded default: it carries out the suites' instructions without weights, and wears a picture as editors do."""

from dataclasses import dataclass
from typing import ClassVar

import numpy
from numpy.typing import NDArray
from PIL import Image

from ..images import png
from ..paint import finding, healing, laying, placing, toning, wearing, words
from ..paint.things import every, look
from ..records import Answer, UserError


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
        if pixels is None:
            return Answer(status="refused", reason=f"paint finds no {request.thing} in the picture to remove")
        if request.verb not in ("flip", "turn"):
            pixels = wearing.wear(pixels, self.wear, chance)
        return Answer(png(Image.fromarray(numpy.ascontiguousarray(pixels))))


def carried_out(
    pixels: NDArray[numpy.uint8], request: words.Request, chance: numpy.random.Generator
) -> NDArray[numpy.uint8] | None:
    """What was asked for and nothing else; None where there is nothing to remove."""
    if request.verb == "flip":
        return pixels[:, ::-1] if request.side == "horizontal" else pixels[::-1]
    if request.verb == "turn":
        return numpy.rot90(pixels, -request.amount)
    if request.verb == "add":
        return added(pixels, request, chance)
    if request.verb == "remove":
        return removed(pixels, request)
    return toning.TONES[request.thing](pixels) if request.thing else pixels


def added(pixels: NDArray[numpy.uint8], request: words.Request, chance: numpy.random.Generator) -> NDArray[numpy.uint8]:
    """The picture with the thing in it."""
    thing = every()[request.thing]
    worn = thing.place == "worn"
    place = placing.worn(pixels, thing) if worn else placing.free(pixels, thing, request.side, chance)
    colour = request.colour or placing.standing_out(pixels, thing, place)
    return laying.lay(pixels, thing, look(thing.name, colour, *place[2:]), place)


def removed(pixels: NDArray[numpy.uint8], request: words.Request) -> NDArray[numpy.uint8] | None:
    """The picture without the thing, or None where there is none."""
    thing = every()[request.thing]
    found = finding.find(pixels, thing, (request.colour,) if request.colour else thing.colours)
    if found is None:
        return None
    bare, hole = laying.lift(pixels, thing, look(thing.name, found.colour, *found.place[2:]), found.place)
    return healing.heal(bare, hole, borrow=thing.place != "worn")  # else a second mouth may come to lie on a forehead
