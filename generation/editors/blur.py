"""Decay by loss of detail, of known strength."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image, ImageFilter

from ..options import number
from ..pictures import encode_png
from ..records import Answer


@dataclass(frozen=True)
class Editor:
    """Blurs its input a little; `radius` is the Gaussian's sigma in pixels."""

    radius: float = number(0.6, above=0, most=100)
    role: ClassVar[str] = "transport"
    embedded: ClassVar[bool] = True

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        return Answer(encode_png(image.filter(ImageFilter.GaussianBlur(self.radius))))
