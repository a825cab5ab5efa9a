"""Open models on this machine, through diffusers."""

import functools
import importlib.metadata
import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, pipelines, requirements, torch_models
from ..calls import Rejected, Unusable
from ..options import choice, number
from ..records import Answer
from ..vendors.sizes import Size, of_pipeline

_PACKAGES = ("diffusers", "transformers", "accelerate", "torch")
_INDEX = "model_index.json"
_VIDEO_PROCESSORS = ("Qwen2VLProcessor", "Qwen2_5_VLProcessor", "Qwen3VLProcessor")


@dataclass(frozen=True)
class Editor:
    """Any pipeline of diffusers that edits by words, by repo id or folder; docs/diffusers.md has them all."""

    model: str = "black-forest-labs/FLUX.1-Kontext-dev"
    revision: str | None = None
    dtype: str = choice("bfloat16", torch_models.DTYPES)
    steps: int | None = number(None, least=1)
    guidance: float | None = None
    image_guidance: float | None = None
    device: str = choice("auto", torch_models.DEVICES, identity=False)
    offload: str = choice("none", ("none", "model", "sequential"), identity=False)
    concurrency: ClassVar[int] = 1
    needs: ClassVar[str] = "weights, a GPU for most of them, and pip install 'convergebench[diffusers]'"

    def identity(self) -> dict[str, str]:
        commit = requirements.hub_commit(self.model, _INDEX, self.revision)
        return {"commit": commit} if commit else {}

    def ready(self) -> str | None:
        missing = requirements.missing_packages("diffusers", *_PACKAGES)
        return missing or requirements.missing_weights(self.model, _INDEX)

    def sizes(self) -> tuple[Size, ...]:
        index = Path(self.model, _INDEX)
        return of_pipeline(json.loads(index.read_text())["_class_name"] if index.exists() else self.model)

    @functools.cached_property
    def _lock(self) -> threading.Lock:
        return threading.Lock()

    @functools.cached_property
    def pipeline(self) -> Any:
        requirements.require_packages("diffusers", *_PACKAGES)
        from diffusers import DiffusionPipeline
        from diffusers.utils import logging

        logging.disable_progress_bar()
        revision = self.identity().get("commit") or self.revision
        where = {"revision": revision} if revision else {}
        name = f"diffusers:model={self.model}"
        try:
            parts = {**where, **_without_video(self.model, where)}
            pipeline = DiffusionPipeline.from_pretrained(self.model, dtype=torch_models.dtype(self.dtype), **parts)
        except (OSError, ImportError) as error:
            line = "; pip install torchvision, of the version for your torch" * ("torchvision" in str(error))
            raise Unusable(f"{name} cannot be loaded: {str(error)[:300]}{line}") from error
        if reason := pipelines.why_not(type(pipeline)):
            kind = type(pipeline).__name__
            raise Unusable(f"{name} is a {kind}, which does not edit pictures by words: {reason}")
        if package := pipelines.needs(type(pipeline)):
            raise Unusable(f"{type(pipeline).__name__} needs {package}: pip install {package}")
        pipelines.mend(pipeline)
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
        with self._lock:
            pipeline = self.pipeline
            options = {"steps": self.steps, "guidance": self.guidance, "image_guidance": self.image_guidance}
            arguments = pipelines.arguments(pipeline, image, instruction, options)
            try:
                with torch_models.seeded(seed):  # for random numbers that a pipeline draws without its generator
                    result = pipeline(generator=torch_models.generator(seed), **arguments)
                picture = pipelines.picture_of(result)
            except Exception as error:  # an exception of a pipeline fails this step, not the run
                raise Rejected(f"{type(pipeline).__name__}: {type(error).__name__}: {str(error)[:300]}") from error
        parameters = {key: value for key, value in arguments.items() if key not in ("image", "prompt", "output_type")}
        details = {"pipeline": type(pipeline).__name__, "device": torch_models.device(self.device), **parameters}
        details |= {package: importlib.metadata.version(package) for package in ("diffusers", "torch")}
        if any(getattr(result, "nsfw_content_detected", None) or ()):
            return Answer(status="refused", reason="the pipeline's safety checker", cost=0.0, details=details)
        return Answer(pictures.encode_png(picture), cost=0.0, details=details)


def _without_video(model: str, where: dict[str, str]) -> dict[str, Any]:
    """Qwen's processors without their video part, which alone needs torchvision."""
    from diffusers import DiffusionPipeline

    if requirements.is_installed("torchvision"):
        return {}
    parts = DiffusionPipeline.load_config(model, **where).items()
    kinds = {name: part[1] for name, part in parts if isinstance(part, list) and part[1] in _VIDEO_PROCESSORS}
    return {name: _picture_processor(model, name, kind, where) for name, kind in kinds.items()}


def _picture_processor(model: str, name: str, kind: str, where: dict[str, str]) -> Any:
    """Its tokenizer may be in the folder `tokenizer`."""
    import transformers
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    class Processor(getattr(transformers, kind)):  # type: ignore[misc]  # the model names its class
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            return None if argument is None else super().check_argument_for_proper_class(argument_name, argument)

    try:
        words = transformers.AutoTokenizer.from_pretrained(model, subfolder=name, **where)
    except (OSError, ValueError):
        words = transformers.AutoTokenizer.from_pretrained(model, subfolder="tokenizer", **where)
    config, _ = Processor.get_processor_dict(model, subfolder=name, **where)
    images = Qwen2VLImageProcessorPil.from_pretrained(model, subfolder=name, **where)
    template = config.get("chat_template", words.chat_template)
    return Processor(image_processor=images, tokenizer=words, chat_template=template)
