"""Open models through diffusers: which pipelines edit, and how to call each, by their signatures.

A pipeline edits by instruction if its call takes a picture and a prompt, and nothing that marks another
kind: a mask, a strength (the words then describe the whole result), a control, a number of frames.
"""

import functools
import importlib.metadata
import inspect
import json
import math
import sys
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from PIL import Image

from .. import local_models, pictures
from ..calls import Rejected, Unusable
from ..files import toml_beside
from ..options import WHERE_GIVEN, choice, number
from ..records import Answer, UserError, Values
from ..vendors.sizes import Size, nearest, of_pipeline

_PACKAGES = ("diffusers", "transformers", "accelerate", "torch")
_INDEX = "model_index.json"
_VIDEO_PROCESSORS = ("Qwen2VLProcessor", "Qwen2_5_VLProcessor", "Qwen3VLProcessor")
_HALO = (
    "Qwen-Image-2.1 answers edits at 1024x1024 with haloed copies (huggingface/diffusers#14824); use another size, "
    "such as --short-side 768"
)
_OTHERS = toml_beside(__file__, "diffusers.toml")  # pipelines that do not edit by words, and why


@dataclass(frozen=True)
class Editor:
    """Any pipeline of diffusers that edits by words, by repo id or folder; docs/diffusers.md has them all."""

    model: str = "black-forest-labs/FLUX.1-Kontext-dev"
    revision: str | None = None
    lora: str | None = field(default=None, metadata={"identity": WHERE_GIVEN})  # REPO@REVISION or FOLDER, :WEIGHT
    dtype: str = choice("bfloat16", local_models.DTYPES)
    steps: int | None = number(None, least=1)
    guidance: float | None = None
    image_guidance: float | None = None
    device: str = choice("auto", local_models.DEVICES, identity=False)
    offload: str = choice("none", ("none", "model", "sequential"), identity=False)
    concurrency: ClassVar[int] = 1
    needs: ClassVar[str] = "weights, a GPU for most of them, and pip install 'convergebench[diffusers]'"

    def __post_init__(self) -> None:
        if self.lora:
            _split_lora(self.lora)

    def identity(self) -> dict[str, str]:
        commit = local_models.hub_commit(self.model, _INDEX, self.revision)
        return {"commit": commit} if commit else {}

    def ready(self) -> str | None:
        return local_models.missing_packages("diffusers", *_PACKAGES)

    def sizes(self) -> tuple[Size, ...]:
        index = Path(self.model, _INDEX)
        return of_pipeline(json.loads(index.read_text())["_class_name"] if index.exists() else self.model)

    @functools.cached_property
    def _lock(self) -> threading.Lock:
        return threading.Lock()

    @functools.cached_property
    def pipeline(self) -> Any:
        local_models.require_packages("diffusers", *_PACKAGES)
        import torch
        from diffusers import DiffusionPipeline
        from diffusers.utils import logging

        logging.disable_progress_bar()
        revision = self.identity().get("commit") or self.revision
        where = {"revision": revision} if revision else {}
        name = f"diffusers:model={self.model}"
        try:
            parts = {**where, **_without_video(self.model, where)}
            pipeline = DiffusionPipeline.from_pretrained(self.model, dtype=getattr(torch, self.dtype), **parts)
        except (OSError, ImportError) as error:
            line = "; pip install torchvision, of the version for your torch" * ("torchvision" in str(error))
            raise Unusable(f"{name} cannot be loaded: {str(error)[:300]}{line}") from error
        if reason := why_not(type(pipeline)):
            kind = type(pipeline).__name__
            raise Unusable(f"{name} is a {kind}, which does not edit pictures by words: {reason}")
        if package := _missing_package(type(pipeline)):
            raise Unusable(f"{type(pipeline).__name__} needs {package}: pip install {package}")
        _mend(pipeline)
        if self.lora:
            _add_lora(pipeline, self.lora)
        pipeline.set_progress_bar_config(disable=True)
        self._move(pipeline, local_models.torch_device(self.device))
        return pipeline

    def _move(self, pipeline: Any, device: str) -> None:
        if self.offload == "model":
            pipeline.enable_model_cpu_offload(device=device)
        elif self.offload == "sequential":
            pipeline.enable_sequential_cpu_offload(device=device)
        else:
            pipeline.to(device)

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        import torch

        with self._lock:
            pipeline = self.pipeline
            options = {"steps": self.steps, "guidance": self.guidance, "image_guidance": self.image_guidance}
            arguments = _arguments(pipeline, image, instruction, options)
            try:
                with torch.random.fork_rng(devices=[]):
                    torch.manual_seed(seed)  # for random numbers that a pipeline draws without its generator
                    result = pipeline(generator=local_models.seeded_generator(seed), **arguments)
                picture = _picture_of(result)
            except Exception as error:  # an exception of a pipeline fails this step, not the run
                raise Rejected(
                    f"{type(pipeline).__name__}: {type(error).__name__}: {str(error)[:300]}"
                ) from error
        details = {"pipeline": type(pipeline).__name__, "device": local_models.torch_device(self.device)}
        details |= {
            key: value for key, value in arguments.items() if key not in ("image", "prompt", "output_type")
        }
        details |= {package: importlib.metadata.version(package) for package in ("diffusers", "torch")}
        if any(getattr(result, "nsfw_content_detected", None) or ()):
            return Answer(status="refused", reason="the pipeline's safety checker", cost=0.0, details=details)
        return Answer(pictures.encode_png(picture), cost=0.0, details=details)


def _split_lora(words: str) -> tuple[str, str | None, float]:
    """Its repository or folder, revision and weight. A repository needs a revision, or a resumed run could mix two."""
    place, _, weight = words.partition(":")
    repo, _, revision = place.partition("@")
    try:
        strength = float(weight or 1)
    except ValueError as error:
        raise UserError(f"diffusers:lora must end in a number as weight, got {weight!r}") from error
    if not revision and not Path(repo).exists():
        raise UserError(f"diffusers:lora needs a revision, as in {repo}@COMMIT:0.8; or a folder that exists")
    return repo, revision or None, strength


def _add_lora(pipeline: Any, words: str) -> None:
    repo, revision, weight = _split_lora(words)
    if not hasattr(pipeline, "load_lora_weights"):
        raise Unusable(f"{type(pipeline).__name__} takes no LoRA")
    if not local_models.is_installed("peft"):
        raise Unusable("a LoRA needs peft: pip install peft")
    try:
        pipeline.load_lora_weights(repo, adapter_name="lora", **({"revision": revision} if revision else {}))
        pipeline.set_adapters("lora", weight)
    except (OSError, ValueError) as error:
        raise Unusable(f"the LoRA {words} cannot be loaded: {str(error)[:300]}") from error


def _without_video(model: str, where: dict[str, str]) -> dict[str, Any]:
    from diffusers import DiffusionPipeline

    if local_models.is_installed("torchvision"):
        return {}
    parts = DiffusionPipeline.load_config(model, **where).items()
    kinds = {name: part[1] for name, part in parts if isinstance(part, list) and part[1] in _VIDEO_PROCESSORS}
    return {name: _picture_processor(model, name, kind, where) for name, kind in kinds.items()}


def _picture_processor(model: str, name: str, kind: str, where: dict[str, str]) -> Any:
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


def why_not(kind: type) -> str | None:
    takes = inspect.signature(kind.__call__).parameters
    if "image" not in takes:
        return "takes no picture"
    if "prompt" not in takes:
        return "takes no words"
    if kind.__name__ in _OTHERS["named"]:
        return str(_OTHERS["named"][kind.__name__])
    if "enable_temporal_reasoning" in takes:  # a video whose last frame is the edited picture
        return None
    shown = takes.keys() | inspect.signature(kind.__init__).parameters.keys()  # type: ignore[misc]
    return next((words for words, signs in _OTHERS["shown"].items() if not shown.isdisjoint(signs)), None)


def _arguments(pipeline: Any, image: Image.Image, instruction: str, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of this pipeline's call; raises UserError for an ignored option."""
    takes = inspect.signature(pipeline.__call__).parameters
    true_scale = takes["true_cfg_scale"].default if "true_cfg_scale" in takes else None
    is_true = true_scale is not None and (true_scale > 1 or "guidance_scale" not in takes)
    named = "true_cfg_scale" if is_true else "guidance_scale"
    names = {"steps": "num_inference_steps", "guidance": named, "image_guidance": "image_guidance_scale"}
    _refuse_ignored(pipeline, options, names)
    width, height = _stable_size(pipeline, image.size)
    if (width, height) == (1024, 1024) and "output_resolution" in takes:
        warnings.warn(_HALO, stacklevel=2)
    if (width, height) != image.size:
        image = image.resize((width, height), Image.Resampling.LANCZOS)
    values: dict[str, Any] = {
        "image": [image] if _wants_a_list(pipeline) else image,
        "prompt": _as_prompt(pipeline, instruction),
        "width": width,
        "height": height,
        "max_area": width * height,  # Kontext derives its size from this and the ratio alone
        "output_resolution": math.isqrt(width * height),  # Qwen-Image-2.1 brings its input to this size
        "_auto_resize": False,  # the input was brought to a stable size once, before round 1
        **{name: options.get(option) for option, name in names.items()},
        # Without a negative prompt, Qwen's guidance is off.
        "negative_prompt": " " if is_true and float(options.get("guidance") or true_scale or 0) > 1 else None,
        "output_type": "pil" if "output_type" in takes and takes["output_type"].default != "pil" else None,
    }
    return {key: value for key, value in values.items() if key in takes and value is not None}


def _refuse_ignored(pipeline: Any, options: Values, names: Mapping[str, str]) -> None:
    takes = inspect.signature(pipeline.__call__).parameters
    is_distilled = bool(getattr(getattr(pipeline, "config", None), "is_distilled", False))
    for option, name in names.items():
        ignored = name not in takes or (option != "steps" and takes[name].default is None)
        if options.get(option) is not None and (ignored or (option == "guidance" and is_distilled)):
            raise UserError(f"diffusers:{option} is given, but {type(pipeline).__name__} takes none")


def _stable_size(pipeline: Any, size: Size) -> Size:
    """The nearest of its own list, or a multiple of its latent cells."""
    if listed := getattr(pipeline, "resolutions", None):
        return nearest(size, tuple(listed))
    buckets = getattr(pipeline, "vae_image_processor", None)
    if buckets is not None:
        height, width = buckets.get_default_height_width(None, size[1], size[0])
        return width, height
    cell = int(getattr(pipeline, "vae_scale_factor", 0) or getattr(pipeline, "vae_scale_factor_spatial", 0) or 8)
    parts = inspect.signature(type(pipeline).__init__).parameters
    if "vision_language_encoder" in parts:  # GLM's tokens are pairs of patches
        cell *= 4
    elif "unet" not in parts:  # pairs of cells in a transformer
        cell *= 2
    settings = getattr(getattr(pipeline, "image_processor", None), "config", {})
    cell = max(cell, int(settings.get("vae_scale_factor", cell)))  # what it would round the picture itself to
    return max(cell, round(size[0] / cell) * cell), max(cell, round(size[1] / cell) * cell)


def _wants_a_list(pipeline: Any) -> bool:
    functions = (getattr(pipeline, name, None) for name in ("__call__", "_validate_and_normalize_images"))
    hints = [
        str(inspect.signature(function).parameters["image"].annotation).lower()
        for function in functions
        if function
    ]
    lists = ("list[", "typing.list[", "typing.optional[typing.list[", "optional[list[")
    return any(hint.startswith(lists) for hint in hints)


def _missing_package(kind: type) -> str | None:
    """A missing package that the pipeline uses without checking for it."""
    is_available = getattr(sys.modules.get(kind.__module__), "is_ftfy_available", None)
    return "ftfy" if is_available is not None and not is_available() else None


def _mend(pipeline: Any) -> None:
    encoder = getattr(pipeline, "vision_language_encoder", None)
    if encoder is None:
        return
    read = encoder.get_image_tokens
    encoder.get_image_tokens = lambda features, *grids: read(
        [features] if getattr(features, "ndim", 0) == 3 else features, *grids
    )


def _as_prompt(pipeline: Any, instruction: str) -> str:
    modules = [kind.__module__ for kind in type(pipeline).__mro__]
    module = next((module for module in modules if module.startswith("diffusers.")), modules[0])
    as_json = hasattr(sys.modules.get(module), "is_valid_edit_json")
    return json.dumps({"edit_instruction": instruction}) if as_json else instruction


def _picture_of(result: Any) -> Image.Image:
    names = [name for name in ("images", "image", "frames") if hasattr(result, name)]
    picture = getattr(result, names[0]) if names else None
    last = hasattr(result, "frames")
    while isinstance(picture, list | tuple) and picture:
        picture = picture[-1] if last and not isinstance(picture[0], list | tuple) else picture[0]
    if not isinstance(picture, Image.Image):
        raise TypeError(f"{type(result).__name__} holds no picture")
    return picture.convert("RGB")
