"""pyiqa's own classes with random weights: whatever would be downloaded is made up, and everything else is as it is.

torchvision from the package index is built for CUDA; beside torch for the processor it loads when the two operators
that it lacks are declared.
"""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch

MODULES = {"hyperiqa": "hypernet", "topiq_nr": "topiq", "wadiqam_nr": "wadiqam", "pi": "nrqm"}
NOT_MADE_UP = {
    "nrqm": "its weights are decision trees in a file of MATLAB",
    "pi": "it is made of NRQM",
    "qalign": "it is a language model of seven billion parameters",
    "qualiclip": "it reads its prompts out of its checkpoint",
    "paq2piq": "it needs compiled operators of torchvision",
}


def declare_operators() -> torch.library.Library:
    """What torchvision wants to find; the library has to be kept."""
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        with contextlib.suppress(RuntimeError):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library


def random_clip(name: str, device: str = "cpu", **options: Any) -> Any:
    """A CLIP model of the size that the name tells."""
    from pyiqa.archs.clip_model import CLIP

    if name.startswith("RN"):
        return CLIP(1024, 224, (3, 4, 6, 3), 64, None, 77, 49408, 512, 8, 12).eval()
    return CLIP(512, 224, 12, 768, 32, 77, 49408, 512, 8, 12).eval()


@contextlib.contextmanager
def nothing_downloaded(name: str) -> Iterator[None]:
    """While a metric is made: no weights are fetched or loaded, all stay as they were drawn."""
    import packaging.version
    import timm
    import torchvision.models._api

    # openai-clip imports this of setuptools, which newer ones no longer have.
    sys.modules.setdefault("pkg_resources", SimpleNamespace(packaging=packaging))  # type: ignore[arg-type]
    module = importlib.import_module(f"pyiqa.archs.{MODULES.get(name, name)}_arch")
    create = timm.create_model
    patches = [
        mock.patch.object(timm, "create_model", lambda *given, **more: create(*given, **{**more, "pretrained": False})),
        mock.patch.object(torch.hub, "load_state_dict_from_url", return_value={}),
        mock.patch.object(torchvision.models._api, "load_state_dict_from_url", return_value={}),
        mock.patch.object(torch.nn.Module, "load_state_dict", return_value=None),
        mock.patch.object(torch.jit, "load", return_value=torch.nn.Linear(4096, 1)),
        mock.patch.object(torch, "save", return_value=None),
        mock.patch.object(torch, "load", return_value=torch.randn(495, 512)),
    ]
    made_up = {
        "load_pretrained_network": lambda *given, **more: None,
        "load_file_from_url": lambda *given, **more: "nothing",
        "load": random_clip,
    }
    patches += [mock.patch.object(module, key, value) for key, value in made_up.items() if hasattr(module, key)]
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield
