from collections.abc import Sequence

from PIL import Image

from ..records import Answer, Turn
from . import paint
from .oracle import taken_back_by, unreversed_changes

role = "baseline"
embedded = remembers = True


def edit(image: Image.Image, instruction: str, seed: int, history: Sequence[Turn]) -> Answer:
    """Draws like paint, and on removal returns the picture that it stored before the addition."""
    request = paint.instructions.parse(instruction)
    taken_back = request and taken_back_by(request, unreversed_changes(history))
    if taken_back:
        return Answer(history[taken_back[0] - 1].data)
    return paint.edit(image, instruction, seed, wear=1.0)
