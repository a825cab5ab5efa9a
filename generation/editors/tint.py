"""Decay by drifting colour, of known strength: the green cast that repeated editing is known for."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..options import number
from ..pictures import encode_png
from ..records import Answer

_GREEN = (110, 170, 90)


@dataclass(frozen=True)
class Editor:
    """Mixes a little green into every pixel; `strength` is its share."""

    strength: float = number(0.04, above=0, most=1)
    role: ClassVar[str] = "transport"
    embedded: ClassVar[bool] = True

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        return Answer(encode_png(Image.blend(image, Image.new("RGB", image.size, _GREEN), self.strength)))
