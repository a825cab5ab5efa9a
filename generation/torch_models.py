"""Shared by editors that run a torch model: device, number format, seeded noise, and pictures as tensors."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from .records import one_of

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("bfloat16", "float16", "float32")


def device(name: str) -> str:
    import torch

    one_of("device", name, DEVICES)
    if name == "auto":
        accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        name = accelerator.type if accelerator else "cpu"
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if name == "cuda" else name


def dtype(name: str) -> Any:
    import torch

    one_of("dtype", name, DTYPES)
    return getattr(torch, name)


def generator(seed: int) -> "torch.Generator":
    """A random generator on the CPU, whose noise is the same on every machine."""
    import torch

    return torch.Generator("cpu").manual_seed(seed)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's global noise while the block runs, and restore its state afterwards."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def tensor(image: Image.Image) -> "torch.Tensor":
    """A picture as a batch of one, channels first, from 0 to 1."""
    import torch

    return torch.from_numpy(np.array(image, dtype=np.float32) / 255).permute(2, 0, 1)[None]


def picture(tensor: "torch.Tensor") -> Image.Image:
    """The first picture of a batch, channels first, from 0 to 1."""
    pixels = tensor[0].float().clamp(0, 1).permute(1, 2, 0).cpu().numpy()
    return Image.fromarray(np.round(pixels * 255).astype(np.uint8))
