"""Decay by loss of detail, of known strength."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image, ImageFilter

from ..pictures import encode_png
from ..records import Answer, UserError


@dataclass(frozen=True)
class Editor:
    """Blurs its input a little; `radius` is the Gaussian's sigma in pixels."""

    radius: float = 0.6
    role: ClassVar[str] = "transport"
    embedded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.radius <= 100:
            raise UserError(f"blur:radius is {self.radius}; it is a number above 0, up to 100")

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        return Answer(encode_png(image.filter(ImageFilter.GaussianBlur(self.radius))))
