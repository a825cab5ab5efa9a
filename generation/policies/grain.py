"""Adds seeded grain to the answer, against softening."""

import numpy as np
from PIL import Image

from ..options import number


def rework(
    answer: Image.Image,
    sent: Image.Image,
    instruction: str,
    seed: int,
    *,
    sigma: float = number(2.0, above=0, most=50),  # grey levels
) -> Image.Image:
    pixels = np.asarray(answer, np.float32)
    grain = np.random.default_rng(seed).standard_normal((*pixels.shape[:2], 1), np.float32)
    return Image.fromarray(np.rint(pixels + sigma * grain).clip(0, 255).astype(np.uint8))
