"""Film grain over every answer."""

from dataclasses import dataclass

import numpy as np
from PIL import Image

from ..options import number
from ..records import Answer
from . import Ask, reworked


@dataclass(frozen=True)
class Policy:
    """Adds seeded grain to the answer, against softening."""

    sigma: float = number(2.0, above=0, most=50)  # grey levels

    def edit(self, ask: Ask, image: Image.Image, instruction: str, seed: int) -> Answer:
        def add_grain(received: Image.Image) -> Image.Image:
            pixels = np.asarray(received, np.float32)
            grain = np.random.default_rng(seed).standard_normal((*pixels.shape[:2], 1), np.float32)
            return Image.fromarray(np.rint(pixels + self.sigma * grain).clip(0, 255).astype(np.uint8))

        return reworked(ask(image, instruction, seed), image, add_grain)
