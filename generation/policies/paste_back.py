"""Puts back the sent picture's pixels wherever the edit touched nothing, with a feathered border."""

from dataclasses import replace

import cv2
import numpy as np
from PIL import Image

from ..options import number
from ..records import Answer
from . import Ask, reworked
from ._touched import Pixels, touched


def edit(
    ask: Ask,
    image: Image.Image,
    instruction: str,
    seed: int,
    *,
    feather: float = number(6.0, above=0, most=100),  # pixels at a short side of 512
) -> Answer:
    note: dict[str, float] = {}

    def paste(received: Image.Image) -> Image.Image:
        mask = touched(image, received, instruction)
        if mask is None:
            return received
        width = feather * min(image.size) / 512
        reach = 2 * round(2 * width) + 1  # the blurred border lies outside what was touched
        wide = cv2.dilate(mask.astype(np.float32), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach)))
        weight = cv2.GaussianBlur(wide, (0, 0), width)
        sent, answered = (np.asarray(picture, np.float32) for picture in (image, received))
        made = sent + weight[..., None] * (answered - sent)
        border = (weight > 0.02) & (weight < 0.98)
        note.update(pasted=round(float(1 - weight.mean()), 4), seam=_seam(sent, answered, made, border))
        return Image.fromarray(np.rint(made).astype(np.uint8))

    answer = reworked(ask(image, instruction, seed), image, paste)
    return replace(answer, details={**answer.details, "paste_back": note}) if note else answer


def _seam(sent: Pixels, answered: Pixels, made: Pixels, border: np.ndarray) -> float:
    """How much steeper the border is than in either picture, in grey levels a pixel; 0 if no seam shows."""
    if not border.any():
        return 0.0
    before, after, now = (np.hypot(*np.gradient(pixels.mean(2)))[border] for pixels in (sent, answered, made))
    return round(float(np.clip(now - np.maximum(before, after), 0, None).mean()), 4)
