"""Decay by drifting colour, of known strength: the green cast that repeated editing is known for."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..pictures import encode_png
from ..records import Answer, UserError

_GREEN = (110, 170, 90)


@dataclass(frozen=True)
class Editor:
    """Mixes a little green into every pixel; `strength` is its share."""

    strength: float = 0.04
    role: ClassVar[str] = "transport"
    embedded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.strength <= 1:
            raise UserError(f"tint:strength is {self.strength}; it is a number above 0, up to 1")

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        return Answer(encode_png(Image.blend(image, Image.new("RGB", image.size, _GREEN), self.strength)))
