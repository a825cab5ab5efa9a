"""Brings low-frequency colour and tone of the untouched part back to the sent picture's."""

import cv2
import numpy as np
from PIL import Image

from ..options import number
from ._touched import touched


def rework(
    answer: Image.Image,
    sent: Image.Image,
    instruction: str,
    seed: int,
    *,
    radius: float = number(16.0, above=0, most=200),  # pixels at a short side of 512; finer differences stay
) -> Image.Image:
    mask = touched(sent, answer, instruction)
    if mask is None:
        return answer
    sigma = radius * min(sent.size) / 512
    before, after = (np.asarray(picture, np.float32) for picture in (sent, answer))
    weight = (~mask).astype(np.float32)
    drift = (before - after) * weight[..., None]
    local_drift, local_weight = (cv2.GaussianBlur(values, (0, 0), sigma) for values in (drift, weight))
    # Deep inside the edit no untouched pixel is near, so the mean drift of the untouched part is used.
    mean = drift.sum((0, 1)) / max(weight.sum(), 1)
    aligned = after + (local_drift + 1e-3 * mean) / (local_weight[..., None] + 1e-3)
    return Image.fromarray(np.rint(aligned).clip(0, 255).astype(np.uint8))
