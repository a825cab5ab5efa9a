"""Saves every answer as JPEG, WebP or PNG before it is shown and sent again."""

import io

from PIL import Image

from ..options import choice, number
from ..pictures import decode


def rework(
    answer: Image.Image,
    sent: Image.Image,
    instruction: str,
    seed: int,
    *,
    type: str = choice("jpeg", ("jpeg", "png", "webp")),
    quality: int = number(90, least=1, most=100),  # of JPEG and WebP
) -> Image.Image:
    buffer = io.BytesIO()
    answer.save(buffer, type, quality=quality)
    return decode(buffer.getvalue())
