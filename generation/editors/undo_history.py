from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..records import Answer, Turn
from . import paint
from .oracle import taken_back_by, unreversed_changes


@dataclass(frozen=True)
class Editor:
    """Draws like paint, and on removal returns the picture that it stored before the addition."""

    role: ClassVar[str] = "baseline"
    embedded: ClassVar[bool] = True
    remembers: ClassVar[bool] = True

    def edit(self, image: Image.Image, instruction: str, seed: int, history: Sequence[Turn]) -> Answer:
        request = paint.instructions.parse(instruction)
        taken_back = request and taken_back_by(request, unreversed_changes(history))
        if taken_back:
            return Answer(history[taken_back[0] - 1].data)
        return paint.Editor().edit(image, instruction, seed)
