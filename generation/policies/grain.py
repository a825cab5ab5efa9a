from dataclasses import dataclass

import numpy as np
from PIL import Image

from ..options import number


@dataclass(frozen=True)
class Policy:
    """Adds seeded grain to the answer, against softening."""

    sigma: float = number(2.0, above=0, most=50)  # grey levels

    def rework(self, answer: Image.Image, sent: Image.Image, instruction: str, seed: int) -> Image.Image:
        pixels = np.asarray(answer, np.float32)
        grain = np.random.default_rng(seed).standard_normal((*pixels.shape[:2], 1), np.float32)
        return Image.fromarray(np.rint(pixels + self.sigma * grain).clip(0, 255).astype(np.uint8))
