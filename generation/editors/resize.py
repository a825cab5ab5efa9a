"""The floor of every editor that works at another size than its input's."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..options import number
from ..pictures import encode_png
from ..records import Answer


@dataclass(frozen=True)
class Editor:
    """Brings its input to another size and back, by Lanczos."""

    scale: float = number(0.75, least=0.05, most=4)
    role: ClassVar[str] = "transport"
    embedded: ClassVar[bool] = True

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        scaled = (max(1, round(image.width * self.scale)), max(1, round(image.height * self.scale)))
        lanczos = Image.Resampling.LANCZOS
        return Answer(encode_png(image.resize(scaled, lanczos).resize(image.size, lanczos)))
