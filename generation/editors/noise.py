"""Decay by accumulating noise, of known strength: a random walk of every pixel."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from PIL import Image

from ..options import number
from ..pictures import encode_png
from ..records import Answer


@dataclass(frozen=True)
class Editor:
    """Adds seeded Gaussian noise; `sigma` is in grey levels."""

    sigma: float = number(6.0, above=0, most=255)
    role: ClassVar[str] = "transport"
    embedded: ClassVar[bool] = True

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        pixels = np.asarray(image, np.float32)
        grain = np.random.default_rng(seed).standard_normal(pixels.shape, np.float32)
        noisy = np.rint(pixels + self.sigma * grain).clip(0, 255).astype(np.uint8)
        return Answer(encode_png(Image.fromarray(noisy)))
