"""Open models on this machine, through diffusers."""

import functools
import inspect
import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements, torch_models
from ..calls import Unusable
from ..records import Answer, UserError, one_of
from ..vendors.sizes import Size, of_pipeline

PACKAGES = ("diffusers", "transformers", "accelerate", "torch")


@dataclass(frozen=True)
class Editor:
    """Any editing pipeline of diffusers by repo id or folder: FLUX Kontext dev, FLUX.2, Qwen-Image-Edit, pix2pix."""

    model: str = "black-forest-labs/FLUX.1-Kontext-dev"
    revision: str | None = None
    dtype: str = "bfloat16"
    steps: int | None = None
    guidance: float | None = None
    image_guidance: float | None = None
    device: str = field(default="auto", metadata={"identity": False})
    offload: str = field(default="none", metadata={"identity": False})
    concurrency: ClassVar[int] = 1
    needs: ClassVar[str] = "weights, a GPU for most of them, and pip install 'convergebench[diffusers]'"

    def __post_init__(self) -> None:
        one_of("diffusers:dtype", self.dtype, torch_models.DTYPES)
        one_of("diffusers:device", self.device, torch_models.DEVICES)
        one_of("diffusers:offload", self.offload, ("none", "model", "sequential"))
        if self.steps is not None and self.steps < 1:
            raise UserError(f"diffusers:steps is {self.steps}; it is a whole number from 1")

    def identity(self) -> dict[str, str]:
        """The commit of the Hub that the weights come from; it stays the same for the whole run."""
        commit = requirements.hub_commit(self.model, "model_index.json", self.revision)
        return {"commit": commit} if commit else {}

    def ready(self) -> str | None:
        return requirements.missing_packages("diffusers", *PACKAGES) or requirements.missing_weights(
            self.model, "model_index.json"
        )

    def price(self) -> float | None:
        return 0.0

    def sizes(self) -> tuple[Size, ...]:
        index = Path(self.model) / "model_index.json"
        return of_pipeline(json.loads(index.read_text())["_class_name"] if index.exists() else self.model)

    @functools.cached_property
    def lock(self) -> threading.Lock:
        return threading.Lock()

    @functools.cached_property
    def pipeline(self) -> Any:
        if reason := requirements.missing_packages("diffusers", *PACKAGES):
            raise Unusable(reason)
        from diffusers import DiffusionPipeline
        from diffusers.utils import logging

        logging.disable_progress_bar()
        revision = self.identity().get("commit") or self.revision
        where = {"revision": revision} if revision else {}
        try:
            parts = {**where, **without_video(self.model, where)}
            pipeline = DiffusionPipeline.from_pretrained(self.model, dtype=torch_models.dtype(self.dtype), **parts)
        except OSError as error:
            raise Unusable(f"diffusers:model={self.model} cannot be loaded: {str(error)[:300]}") from error
        if "image" not in inspect.signature(pipeline.__call__).parameters:
            raise Unusable(f"diffusers:model={self.model} is a {type(pipeline).__name__}, which edits no picture")
        pipeline.set_progress_bar_config(disable=True)
        device = torch_models.device(self.device)
        if self.offload == "model":
            pipeline.enable_model_cpu_offload(device=device)
        elif self.offload == "sequential":
            pipeline.enable_sequential_cpu_offload(device=device)
        else:
            pipeline.to(device)
        return pipeline

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        with self.lock:
            pipeline = self.pipeline
            asked = self.arguments(pipeline, image.size)
            result = pipeline(image=image, prompt=instruction, generator=torch_models.generator(seed), **asked)
        about = {"pipeline": type(pipeline).__name__, "device": torch_models.device(self.device), **versions(), **asked}
        if any(getattr(result, "nsfw_content_detected", None) or ()):
            return Answer(status="refused", reason="the pipeline's safety checker", cost=0.0, details=about)
        return Answer(pictures.encode_png(result.images[0].convert("RGB")), cost=0.0, details=about)

    def arguments(self, pipeline: Any, size: Size) -> dict[str, Any]:
        """What this pipeline's call takes of the size, the steps and the guidance, under its own names."""
        takes = inspect.signature(pipeline.__call__).parameters
        true_guidance = "true_cfg_scale" in takes and takes["true_cfg_scale"].default > 1
        wanted: dict[str, Any] = {
            "width": size[0],
            "height": size[1],
            "max_area": size[0] * size[1],  # Kontext derives its size from this and the ratio alone
            "_auto_resize": False,  # the input was brought to a stable size once, before round 1
            "num_inference_steps": self.steps,
            "true_cfg_scale" if true_guidance else "guidance_scale": self.guidance,
            "image_guidance_scale": self.image_guidance,
            "negative_prompt": " " if true_guidance else None,  # without one, Qwen's guidance is off
        }
        if self.image_guidance is not None and "image_guidance_scale" not in takes:
            raise UserError(f"diffusers:image_guidance is given, but {self.model} takes none")
        return {key: value for key, value in wanted.items() if key in takes and value is not None}


def without_video(model: str, where: dict[str, str]) -> dict[str, Any]:
    """Qwen's processor, which asks for torchvision only because of the videos that no editor sees."""
    from diffusers import DiffusionPipeline

    parts = DiffusionPipeline.load_config(model, **where)
    if parts.get("processor", [None, None])[1] != "Qwen2VLProcessor" or requirements.is_installed("torchvision"):
        return {}
    from transformers import Qwen2Tokenizer
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    seen = Qwen2VLImageProcessorPil.from_pretrained(model, subfolder="processor", **where)
    return {"processor": sees_pictures(seen, Qwen2Tokenizer.from_pretrained(model, subfolder="tokenizer", **where))}


def sees_pictures(seen: Any, read: Any) -> Any:
    """Qwen's processor of pictures and words alone."""
    from transformers import Qwen2VLProcessor

    class Processor(Qwen2VLProcessor):
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            return None if argument is None else super().check_argument_for_proper_class(argument_name, argument)

    return Processor(image_processor=seen, tokenizer=read)


def versions() -> dict[str, str]:
    import diffusers
    import torch

    return {"diffusers": diffusers.__version__, "torch": str(torch.__version__)}
