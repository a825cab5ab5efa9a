"""The loss that no editor working in this latent space can avoid."""

import functools
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from PIL import Image

from .. import local_models, pictures
from ..calls import Unusable
from ..options import choice
from ..records import Answer

if TYPE_CHECKING:
    import torch

_PACKAGES = ("diffusers", "accelerate", "torch")
_VIDEO = ("AutoencoderKLQwenImage", "AutoencoderKLWan")  # for them the picture is a film of one frame
_MULTIPLE = 32  # pixels; every autoencoder's downsampling divides it, and the padding is cut off again


@dataclass(frozen=True)
class Editor:
    """Encodes and decodes with any autoencoder of diffusers and does nothing else."""

    model: str = "black-forest-labs/FLUX.1-Kontext-dev"
    subfolder: str | None = "vae"
    dtype: str = choice("float32", local_models.DTYPES)
    sample: bool = False  # draw from the posterior with the step's seed; otherwise its mode
    device: str = choice("auto", local_models.DEVICES, identity=False)
    role: ClassVar[str] = "transport"
    concurrency: ClassVar[int] = 1
    needs: ClassVar[str] = "weights and pip install 'convergebench[diffusers]'"

    def identity(self) -> dict[str, str]:
        folder = f"{self.subfolder}/" if self.subfolder else ""
        commit = local_models.hub_commit(self.model, f"{folder}config.json")
        return {"commit": commit} if commit else {}

    def ready(self) -> str | None:
        return local_models.missing_packages("diffusers", *_PACKAGES)

    @functools.cached_property
    def _lock(self) -> threading.Lock:
        return threading.Lock()

    @functools.cached_property
    def _autoencoder(self) -> Any:
        local_models.require_packages("diffusers", *_PACKAGES)
        import torch
        from diffusers import AutoModel

        where = {"subfolder": self.subfolder} if self.subfolder else {}
        if commit := self.identity().get("commit"):
            where["revision"] = commit
        try:
            model = AutoModel.from_pretrained(self.model, dtype=getattr(torch, self.dtype), **where)
        except OSError as error:
            raise Unusable(f"vae:model={self.model} cannot be loaded: {str(error)[:300]}") from error
        if not (hasattr(model, "encode") and hasattr(model, "decode")):
            raise Unusable(f"vae:model={self.model} is a {type(model).__name__}, which is not an autoencoder")
        return model.to(local_models.torch_device(self.device)).eval()

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        import torch

        with self._lock, torch.inference_mode():
            model = self._autoencoder
            pixels = local_models.to_tensor(image) * 2 - 1
            padding = (0, -image.width % _MULTIPLE, 0, -image.height % _MULTIPLE)
            padded = torch.nn.functional.pad(pixels, padding, mode="replicate").to(model.device, model.dtype)
            video = type(model).__name__ in _VIDEO
            latents = self._latents_of(model.encode(padded.unsqueeze(2) if video else padded), seed)
            decoded = model.decode(latents).sample
            decoded = (decoded[:, :, 0] if video else decoded)[..., : image.height, : image.width]
        data = pictures.encode_png(local_models.to_picture((decoded + 1) / 2))
        return Answer(data, cost=0.0, details={"autoencoder": type(model).__name__})

    def _latents_of(self, output: Any, seed: int) -> "torch.Tensor":
        if not hasattr(output, "latent_dist"):
            return output.latents if hasattr(output, "latents") else output.latent
        posterior = output.latent_dist
        return posterior.sample(local_models.seeded_generator(seed)) if self.sample else posterior.mode()
