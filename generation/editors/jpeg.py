"""The transport floor of every editor that answers JPEG."""

import io
from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..records import Answer, UserError


@dataclass(frozen=True)
class Editor:
    """Re-encodes its input as JPEG and does nothing else."""

    quality: int = 75
    role: ClassVar[str] = "transport"
    embedded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 1 <= self.quality <= 100:
            raise UserError(f"jpeg:quality is {self.quality}; it is a whole number from 1 to 100")

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=self.quality)
        return Answer(buffer.getvalue())
