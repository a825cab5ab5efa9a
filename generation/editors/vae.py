"""The loss that no editor working in this latent space can avoid."""

import functools
import threading
from typing import TYPE_CHECKING, Any

from PIL import Image

from .. import local_models, pictures
from ..calls import Unusable
from ..options import choice
from ..records import Answer

if TYPE_CHECKING:
    import torch

_PACKAGES = ("diffusers", "accelerate", "torch")
_MODEL, _SUBFOLDER = "black-forest-labs/FLUX.1-Kontext-dev", "vae"
_VIDEO = ("AutoencoderKLQwenImage", "AutoencoderKLWan")  # for them the picture is a film of one frame
_MULTIPLE = 32  # pixels; every autoencoder's downsampling divides it, and the padding is cut off again
_lock = threading.Lock()

role = "transport"
concurrency = 1
needs = "weights and pip install 'convergebench[diffusers]'"


def ready() -> str | None:
    return local_models.missing_packages("diffusers", *_PACKAGES)


def identity(*, model: str = _MODEL, subfolder: str | None = _SUBFOLDER) -> dict[str, str]:
    folder = f"{subfolder}/" if subfolder else ""
    commit = local_models.hub_commit(model, f"{folder}config.json")
    return {"commit": commit} if commit else {}


def edit(
    image: Image.Image,
    instruction: str,
    seed: int,
    *,
    model: str = _MODEL,
    subfolder: str | None = _SUBFOLDER,
    dtype: str = choice("float32", local_models.DTYPES),
    sample: bool = False,  # draw from the posterior with the step's seed; otherwise its mode
    device: str = choice("auto", local_models.DEVICES, identity=False),
) -> Answer:
    """Encodes and decodes with any autoencoder of diffusers and does nothing else."""
    import torch

    with _lock, torch.inference_mode():
        loaded = _autoencoder(model, subfolder, dtype, local_models.torch_device(device))
        pixels = local_models.to_tensor(image) * 2 - 1
        padding = (0, -image.width % _MULTIPLE, 0, -image.height % _MULTIPLE)
        padded = torch.nn.functional.pad(pixels, padding, mode="replicate").to(loaded.device, loaded.dtype)
        video = type(loaded).__name__ in _VIDEO
        latents = _latents_of(loaded.encode(padded.unsqueeze(2) if video else padded), sample, seed)
        decoded = loaded.decode(latents).sample
        decoded = (decoded[:, :, 0] if video else decoded)[..., : image.height, : image.width]
    data = pictures.encode_png(local_models.to_picture((decoded + 1) / 2))
    return Answer(data, cost=0.0, details={"autoencoder": type(loaded).__name__})


@functools.cache
def _autoencoder(model: str, subfolder: str | None, dtype: str, device: str) -> Any:
    local_models.require_packages("diffusers", *_PACKAGES)
    import torch
    from diffusers import AutoModel

    where = {"subfolder": subfolder} if subfolder else {}
    if commit := identity(model=model, subfolder=subfolder).get("commit"):
        where["revision"] = commit
    try:
        loaded = AutoModel.from_pretrained(model, dtype=getattr(torch, dtype), **where)
    except OSError as error:
        raise Unusable(f"vae:model={model} cannot be loaded: {str(error)[:300]}") from error
    if not (hasattr(loaded, "encode") and hasattr(loaded, "decode")):
        raise Unusable(f"vae:model={model} is a {type(loaded).__name__}, which is not an autoencoder")
    return loaded.to(device).eval()


def _latents_of(output: Any, sample: bool, seed: int) -> "torch.Tensor":
    if not hasattr(output, "latent_dist"):
        return output.latents if hasattr(output, "latents") else output.latent
    posterior = output.latent_dist
    return posterior.sample(local_models.seeded_generator(seed)) if sample else posterior.mode()
