"""The editor that does nothing: it scores zero rounds, because nothing was applied."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..pictures import encode_png
from ..records import Answer


@dataclass(frozen=True)
class Editor:
    """Answers with its input, whatever is asked."""

    role: ClassVar[str] = "baseline"
    embedded: ClassVar[bool] = True

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        return Answer(encode_png(image))
