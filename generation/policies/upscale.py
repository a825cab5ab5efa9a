"""Sends the picture enlarged and reduces the answer, so that fine detail is coarse for the editor."""

from PIL import Image

from ..options import number
from ..records import Answer
from . import Ask, reworked

_LANCZOS = Image.Resampling.LANCZOS


def edit(
    ask: Ask,
    image: Image.Image,
    instruction: str,
    seed: int,
    *,
    scale: float = number(2.0, above=1, most=4),
) -> Answer:
    large = image.resize((round(image.width * scale), round(image.height * scale)), _LANCZOS)

    def reduce(received: Image.Image) -> Image.Image:
        return received.resize((round(received.width / scale), round(received.height / scale)), _LANCZOS)

    return reworked(ask(large, instruction, seed), large, reduce)
