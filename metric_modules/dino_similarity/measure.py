"""DINOv2 image similarity: the cosine of two pictures' embeddings."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .._shared.scoring import Loaded, PairScorer
from ..clip_similarity import measure as clip

if TYPE_CHECKING:
    import torch

CHECKPOINT = "facebook/dinov2-base"  # DINOv3 has the same interface, but its licence must be accepted on the Hub


def _load(device: str, checkpoint: str = CHECKPOINT) -> Loaded:
    model = clip.load(checkpoint, device)
    import torch
    from PIL import Image

    def embed(picture: np.ndarray) -> "torch.Tensor":
        pixels = model.processor(images=[Image.fromarray(picture)], return_tensors="pt")["pixel_values"]
        with torch.inference_mode():
            row = model.network(pixel_values=pixels.to(device)).pooler_output[0]
            return row / row.norm()

    return embed, lambda reference, answer: {"dino": float(reference @ answer)}, clip.signature(model)


Scorer = partial(PairScorer, _load)
