"""Pictures the project paints itself: the same pixels on any machine, at any size, for as many seeds as wanted."""

from collections.abc import Callable
from functools import cache

import numpy
from PIL import Image

from ...records import UserError, one_of
from .exact import Whole

Painter = Callable[[int, int, int], Whole]


@cache
def painters() -> dict[str, Painter]:
    """Every painter by its name; its docstring says what it paints."""
    from . import textures, writing

    return {painter.__name__: painter for place in (textures, writing) for painter in place.PAINTERS}


def names() -> list[str]:
    return list(painters())


def paint(name: str, size: tuple[int, int], seed: int = 0) -> Image.Image:
    """The picture of that name as RGB, `size` being its width and height."""
    one_of("painter", name, tuple(painters()))
    if min(size) < 16 or seed < 0:
        raise UserError(f"{name} is asked for at {size[0]}x{size[1]} from seed {seed}; 16x16 and seed 0 are the least")
    pixels = painters()[name](*size, seed)
    return Image.fromarray(numpy.clip(pixels, 0, 255).astype(numpy.uint8))
