"""A metric of pyiqa, called as its users call it: `pyiqa.create_metric(NAME)(pictures)`."""

import contextlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._shared.scoring import Signature
from .measure import Score, digest_of, version_of

_INSTALL = (
    "pyiqa is not installed: pip install 'convergebench[no-reference]' "
    "(it brings torchvision, so in an environment whose torch and torchvision belong together)"
)
_TOGETHER_ON_A_GPU = 8
TAKE_ONE = {"qalign"}  # refuse more pictures in a call
# What networks raise on a picture that is too small or too flat for them, or with another version of a library.
_FAILURES = (RuntimeError, ValueError, AssertionError, IndexError, AttributeError, TypeError)


class PyiqaNetwork:
    """One of pyiqa's no-reference metrics with its default weights."""

    def __init__(self, name: str, device: str):
        if importlib.util.find_spec("pyiqa") is None:
            raise FileNotFoundError(_INSTALL)
        self.model = create(name, device)
        self.device = device
        self.most_together = 1 if device == "cpu" or name in TAKE_ONE else _TOGETHER_ON_A_GPU
        weights = digest_of(tensors_of(self.model.net))
        self.signature: Signature = {"pyiqa": version_of("pyiqa"), "torch": version_of("torch"), "weights": weights}

    def scores(self, pictures: Sequence[np.ndarray]) -> list[Score]:
        """One number for each picture; all have one size."""
        import torch

        batch = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).to(torch.float32) / 255
        try:
            output = self.model(batch)
        except torch.OutOfMemoryError:
            raise
        except _FAILURES as error:
            words = (str(error).strip() or type(error).__name__).splitlines()[0][:80]
            return [("network_failed", words)] * len(pictures)
        output = output[0] if isinstance(output, tuple) else output
        return [float(value) for value in output.detach().cpu().reshape(len(pictures), -1).mean(1)]


def tensors_of(thing: Any, name: str = "net", seen: set[int] | None = None) -> dict[str, Any]:
    """All numbers that a network holds, by name: its state, and the contents of lists and other fields.

    CLIP is kept in a list so that it is not saved with the network, and decision trees in arrays.
    """
    import torch

    seen = set() if seen is None else seen
    if id(thing) in seen:
        return {}
    seen.add(id(thing))
    if isinstance(thing, torch.Tensor):
        return {name: thing}
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "biuf":
        return {name: torch.from_numpy(np.ascontiguousarray(thing, thing.dtype.newbyteorder("=")))}
    tensors: dict[str, Any] = {}
    inside: Mapping[str, Any] = {}
    if isinstance(thing, torch.nn.Module):
        tensors = {f"{name}.{key}": value for key, value in thing.state_dict().items()}
        for place, module in thing.named_modules():
            plain = {key: value for key, value in vars(module).items() if not key.startswith("_")}
            inside = {**inside, **{f"{place}.{key}" if place else key: value for key, value in plain.items()}}
    elif isinstance(thing, Mapping):
        inside = {str(key): value for key, value in thing.items()}
    elif isinstance(thing, (list, tuple)):
        inside = {str(number): value for number, value in enumerate(thing)}
    for key, value in inside.items():
        tensors |= tensors_of(value, f"{name}.{key}", seen)
    return tensors


def create(name: str, device: str) -> Any:
    """The metric with its weights; FileNotFoundError if they, or what its code imports, are not available."""
    try:
        import pyiqa
    except (ImportError, RuntimeError) as error:
        raise FileNotFoundError(f"pyiqa does not load: {str(error).splitlines()[0][:120]}") from error
    try:
        with contextlib.redirect_stdout(sys.stderr):  # it says what it downloads and loads; stdout is the command's
            return pyiqa.create_metric(name, device=device)
    except ImportError as error:
        hint = "; pip install 'setuptools<82' has it" if "pkg_resources" in str(error) else ""
        raise FileNotFoundError(f"{name} of pyiqa does not load: {error}{hint}") from error
    except OSError as error:  # urllib's and the Hub's errors are among these
        reason = str(error).splitlines()[0][:120]
        raise FileNotFoundError(f"the weights of {name} are not here and did not arrive: {reason}") from error
