"""What editors and judges with optional packages share: what is missing, Hub revisions, torch."""

import functools
import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from .calls import Unusable
from .keys import missing_key

if TYPE_CHECKING:
    import torch

_HUB_TIMEOUT = 4.0  # seconds
DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("bfloat16", "float16", "float32")


def missing_requirements(extra: str, modules: tuple[str, ...], *keys: str) -> str | None:
    """Which packages and API keys are missing, and how to get them; None if nothing is missing."""
    reasons = [missing_packages(extra, *modules), missing_key(*keys) if keys else None]
    return "; ".join(filter(None, reasons)) or None


def missing_packages(extra: str, *modules: str) -> str | None:
    lacking = [name for name in modules if not is_installed(name)]
    verb = "is" if len(lacking) == 1 else "are"
    return f"{', '.join(lacking)} {verb} not installed: pip install 'convergebench[{extra}]'" if lacking else None


def require_packages(extra: str, *modules: str) -> None:
    if reason := missing_packages(extra, *modules):
        raise Unusable(reason)


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is not installed either
        return False


@functools.cache
def hub_commit(model: str, config: str, revision: str | None = None) -> str | None:
    """The commit of a Hub model's weights: the cached one, else the newest; None if unknown."""
    import httpx2
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.constants import is_offline_mode
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    if Path(model).exists():
        return None
    try:
        cached = try_to_load_from_cache(model, config, revision=revision)
        if isinstance(cached, str):
            return Path(cached).parts[Path(cached).parts.index("snapshots") + 1]
        if is_offline_mode():
            return None
        return HfApi().model_info(model, revision=revision, timeout=_HUB_TIMEOUT).sha
    except (HfHubHTTPError, HFValidationError, httpx2.HTTPError, OSError):
        return None


# --- torch


def torch_device(name: str) -> str:
    import torch

    if name == "auto":
        accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        name = accelerator.type if accelerator else "cpu"
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if name == "cuda" else name


def seeded_generator(seed: int) -> "torch.Generator":
    """A random generator on the CPU, so that its noise is the same on every machine."""
    import torch

    return torch.Generator("cpu").manual_seed(seed)


def to_tensor(image: Image.Image) -> "torch.Tensor":
    """A picture as a batch of one, channels first, from 0 to 1."""
    import torch

    return torch.from_numpy(np.array(image, dtype=np.float32) / 255).permute(2, 0, 1)[None]


def to_picture(tensor: "torch.Tensor") -> Image.Image:
    pixels = tensor[0].float().clamp(0, 1).permute(1, 2, 0).cpu().numpy()
    return Image.fromarray(np.round(pixels * 255).astype(np.uint8))
