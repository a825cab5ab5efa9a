"""DISTS (Ding et al. 2020, arXiv:2004.07728) as a pure function, on the VGG16 that LPIPS has."""

import io
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .._shared.networks import require_packages
from .._shared.published import PublishedFile
from .._shared.scoring import Loaded, PairScorer, Signature
from ..lpips import weights
from ..lpips.measure import NETS

if TYPE_CHECKING:
    import torch

_Tensors = Mapping[str, "torch.Tensor"]
HEADS = PublishedFile(
    metric="dists",
    requirement="DISTS_pytorch==0.1",
    ending=".whl",
    inside="DISTS_pytorch/weights.pt",
    name="dists.pt",
    sha256="f5e65c96230b7f6ca995691647d482237e4cab8a50c5c4a5784f219ef0748218",
    archive_sha256="73e54ce13e7cf3ca962ee8e433d129884ec3dc75e00a27af90525e1da760ac61",
)
missing_weights = HEADS.missing
fetch_weights = HEADS.fetch
_MEAN, _SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's channels
_STABLE = 1e-6  # c1 and c2 of the paper


def _load(device: str) -> Loaded:
    require_packages("DISTS", "torch", "safetensors")
    import torch

    trunk, digest = weights.load_weights("vgg")
    heads = torch.load(io.BytesIO(HEADS.load()), map_location=device, weights_only=True)
    tensors = {name: tensor.to(device) for name, tensor in trunk.items()} | heads

    def prepare(picture: np.ndarray) -> "torch.Tensor":
        return torch.from_numpy(picture).to(device).permute(2, 0, 1)[None] / 255

    signature: Signature = {"version": 1, "weights": digest[:12], "heads": HEADS.sha256[:12]}
    return prepare, lambda reference, answer: {"dists": _distance(tensors, reference, answer)}, signature


def _distance(tensors: _Tensors, reference: "torch.Tensor", answer: "torch.Tensor") -> float:
    """1 minus the weighted similarities of the channels' means (texture) and of the channels themselves (structure)."""
    import torch

    with torch.inference_mode():
        whole, start = tensors["alpha"].sum() + tensors["beta"].sum(), 0
        similarity = torch.zeros(())
        for x, y in _stages(tensors, torch.cat([reference, answer])):
            part = slice(start, start := start + len(x))
            texture, structure = tensors["alpha"][0, part, 0, 0], tensors["beta"][0, part, 0, 0]
            mean_x, mean_y = x.mean((1, 2)), y.mean((1, 2))
            means = (2 * mean_x * mean_y + _STABLE) / (mean_x**2 + mean_y**2 + _STABLE)
            shared = (x * y).mean((1, 2)) - mean_x * mean_y
            spread = x.var((1, 2), correction=0) + y.var((1, 2), correction=0)
            likeness = (2 * shared + _STABLE) / (spread + _STABLE)
            similarity = similarity + ((texture * means + structure * likeness) / whole).sum().cpu()
        return float(1 - similarity)


def _stages(tensors: _Tensors, pair: "torch.Tensor") -> "Iterator[torch.Tensor]":
    """The two pictures themselves, then their features after each of VGG16's stages."""
    import torch
    from torch.nn import functional

    yield pair
    mean, spread = (torch.tensor(row, device=pair.device).view(1, 3, 1, 1) for row in (_MEAN, _SPREAD))
    values = (pair - mean) / spread
    window = torch.tensor([0.5, 1.0, 0.5], device=pair.device)  # Hann's, in place of VGG's largest of four
    window = torch.outer(window, window) / 4
    for pool, convolutions in NETS["vgg"]:
        if pool:
            channels = values.shape[1]
            kernel = window.expand(channels, 1, 3, 3)
            values = (functional.conv2d(values**2, kernel, stride=2, padding=1, groups=channels) + 1e-12).sqrt()
        for number, _, padding in convolutions:
            weight, bias = tensors[f"features.{number}.weight"], tensors[f"features.{number}.bias"]
            values = functional.conv2d(values, weight, bias, padding=padding).relu_()
        yield values


Scorer = partial(PairScorer, _load)
