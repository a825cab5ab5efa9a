"""Colour and tone of what the edit did not touch go back to those of the picture that was sent."""

from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image

from ..options import number
from ..records import Answer
from . import Ask, reworked
from ._touched import touched


@dataclass(frozen=True)
class Policy:
    """Brings low-frequency colour and tone of the untouched part back to the sent picture's."""

    radius: float = number(16.0, above=0, most=200)  # pixels at a short side of 512; finer differences stay

    def edit(self, ask: Ask, image: Image.Image, instruction: str, seed: int) -> Answer:
        def align(received: Image.Image) -> Image.Image:
            mask = touched(image, received, instruction)
            if mask is None:
                return received
            sigma = self.radius * min(image.size) / 512
            sent, answered = (np.asarray(picture, np.float32) for picture in (image, received))
            weight = (~mask).astype(np.float32)
            drift = (sent - answered) * weight[..., None]
            near, there = (cv2.GaussianBlur(values, (0, 0), sigma) for values in (drift, weight))
            # Deep inside the edit nothing is near: there the mean drift of the rest counts.
            mean = drift.sum((0, 1)) / max(weight.sum(), 1)
            made = answered + (near + 1e-3 * mean) / (there[..., None] + 1e-3)
            return Image.fromarray(np.rint(made).clip(0, 255).astype(np.uint8))

        return reworked(ask(image, instruction, seed), image, align)
