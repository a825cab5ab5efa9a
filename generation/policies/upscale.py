from dataclasses import dataclass

from PIL import Image

from ..options import number
from ..records import Answer
from . import Ask, reworked

_LANCZOS = Image.Resampling.LANCZOS


@dataclass(frozen=True)
class Policy:
    """Sends the picture enlarged and reduces the answer, so that fine detail is coarse for the editor."""

    scale: float = number(2.0, above=1, most=4)

    def edit(self, ask: Ask, image: Image.Image, instruction: str, seed: int) -> Answer:
        large = image.resize((round(image.width * self.scale), round(image.height * self.scale)), _LANCZOS)

        def reduce(received: Image.Image) -> Image.Image:
            return received.resize(
                (round(received.width / self.scale), round(received.height / self.scale)), _LANCZOS
            )

        return reworked(ask(large, instruction, seed), large, reduce)
