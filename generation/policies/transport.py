"""Answers are saved in another file format."""

import io
from dataclasses import dataclass

from PIL import Image

from ..options import choice, number
from ..pictures import decode
from ..records import Answer
from . import Ask, reworked


@dataclass(frozen=True)
class Policy:
    """Saves every answer as JPEG, WebP or PNG before it is shown and sent again."""

    type: str = choice("jpeg", ("jpeg", "png", "webp"))
    quality: int = number(90, least=1, most=100)  # of JPEG and WebP

    def edit(self, ask: Ask, image: Image.Image, instruction: str, seed: int) -> Answer:
        return reworked(ask(image, instruction, seed), image, self._saved, saved_as=self.type)

    def _saved(self, picture: Image.Image) -> Image.Image:
        buffer = io.BytesIO()
        picture.save(buffer, self.type, quality=self.quality)
        return decode(buffer.getvalue())
