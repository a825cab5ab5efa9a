"""The transport floor of every editor that answers WebP."""

import io
from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..options import number
from ..records import Answer


@dataclass(frozen=True)
class Editor:
    """Re-encodes its input as lossy WebP and does nothing else."""

    quality: int = number(75, least=0, most=100)
    role: ClassVar[str] = "transport"
    embedded: ClassVar[bool] = True

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        buffer = io.BytesIO()
        image.save(buffer, "WEBP", quality=self.quality)
        return Answer(buffer.getvalue())
