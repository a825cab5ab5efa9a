import io
from dataclasses import dataclass

from PIL import Image

from ..options import choice, number
from ..pictures import decode


@dataclass(frozen=True)
class Policy:
    """Saves every answer as JPEG, WebP or PNG before it is shown and sent again."""

    type: str = choice("jpeg", ("jpeg", "png", "webp"))
    quality: int = number(90, least=1, most=100)  # of JPEG and WebP

    def rework(self, answer: Image.Image, sent: Image.Image, instruction: str, seed: int) -> Image.Image:
        buffer = io.BytesIO()
        answer.save(buffer, self.type, quality=self.quality)
        return decode(buffer.getvalue())
