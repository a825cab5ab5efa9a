"""The no-reference metrics that other libraries compute.

One by one on the processor, in batches on a GPU if a score does not depend on the
other pictures. How many went together is in the signature.
"""

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from .._shared.networks import require_packages
from .._shared.scoring import Signature
from .ranges import COLUMNS

if TYPE_CHECKING:
    import torch

_ONE_AT_A_TIME = Lock()  # libraries keep state between the lines of one call
_TOGETHER_ON_A_GPU = 8
TAKE_ONE = {"qalign"}  # metrics of pyiqa that refuse more pictures in a call
# What networks raise on a picture that is too small or
# too flat for them, or with another version of a library.
_FAILURES = (RuntimeError, ValueError, AssertionError, IndexError, AttributeError, TypeError)
Score = float | tuple[str, str]  # of one picture, or why there is none
# What scores pictures of one size, how many at once, and the versions and weights for the signature.
Judge = tuple[Callable[[Sequence[np.ndarray]], list[Score]], int, Signature]


class Scorer:
    def __init__(self, device: str, dtype: str, earlier: Mapping[str, object], *, metric: str):
        self.metric = metric
        self.scores, self.most_together, signature = _judge_of(metric, device)
        self.signature = {
            "version": 1,
            **signature,
            "device": device.partition(":")[0],
            "batch": self.most_together,
        }

    def compare(self, reference: None, pictures: Sequence[np.ndarray], earlier: object) -> list[dict[str, Score]]:
        scores: list[Score] = []
        for start in range(0, len(pictures), self.most_together):
            with _ONE_AT_A_TIME:
                scores += self.scores(pictures[start : start + self.most_together])
        return [{self.metric: score} for score in scores]


def _judge_of(metric: str, device: str) -> Judge:
    name = COLUMNS[metric].library_name
    if COLUMNS[metric].computed_by == "pyiqa":
        return _pyiqa_network(name, device)
    require_packages(COLUMNS[metric].name, "torch", "transformers")
    from . import transformers_models

    return (transformers_models.rali if metric == "rali" else transformers_models.visualquality_r1)(name, device)


def missing_weights(metric: str) -> str | None:
    name = COLUMNS[metric].library_name
    if COLUMNS[metric].computed_by == "transformers":
        return (
            None if Path(name).is_dir() else f"needs weights of {name}, which the first use fetches from the Hub"
        )
    if importlib.util.find_spec("pyiqa"):
        return None
    return "needs pip install 'convergebench[no-reference]' where torchvision may be"


def _pyiqa_network(name: str, device: str) -> Judge:
    if importlib.util.find_spec("pyiqa") is None:
        raise FileNotFoundError(
            "pyiqa is not installed: pip install 'convergebench[no-reference]' "
            "(it brings torchvision, so in an environment whose torch and torchvision belong together)"
        )
    model = _create(name, device)
    most_together = 1 if device == "cpu" or name in TAKE_ONE else _TOGETHER_ON_A_GPU
    weights = digest_of(_tensors_of(model.net))
    signature: Signature = {"pyiqa": version_of("pyiqa"), "torch": version_of("torch"), "weights": weights}
    return partial(_pyiqa_scores, model), most_together, signature


def _pyiqa_scores(model: "torch.nn.Module", pictures: Sequence[np.ndarray]) -> list[Score]:
    import torch

    # Contiguous, as pyiqa's own reader gives pictures: ILNIQE refuses two that are not.
    batch = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).contiguous().to(torch.float32) / 255
    try:
        output = model(batch)
    except torch.OutOfMemoryError:
        raise
    except _FAILURES as error:
        return [("network_failed", first_line(error)[:80])] * len(pictures)
    output = output[0] if isinstance(output, tuple) else output
    return [float(value) for value in output.detach().cpu().reshape(len(pictures), -1).mean(1)]


def _create(name: str, device: str) -> Any:
    try:
        import pyiqa

        with contextlib.redirect_stdout(
            sys.stderr
        ):  # it says what it downloads and loads; stdout is the command's
            return pyiqa.create_metric(name, device=device)
    except (ImportError, RuntimeError) as error:
        hint = "; pip install 'setuptools<82' has it" if "pkg_resources" in str(error) else ""
        raise FileNotFoundError(f"{name} of pyiqa does not load: {first_line(error)}{hint}") from error
    except OSError as error:  # urllib's and the Hub's errors are among these
        raise FileNotFoundError(f"the weights of {name} could not be downloaded: {first_line(error)}") from error


def _tensors_of(thing: Any, name: str = "net", seen: set[int] | None = None) -> dict[str, Any]:
    """All numbers that a network holds, also in lists and arrays beside its state."""
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
    inside: Mapping[Any, Any] = {}
    if isinstance(thing, torch.nn.Module):
        tensors = {f"{name}.{key}": value for key, value in thing.state_dict().items()}
        inside = {
            f"{place}.{key}".lstrip("."): value
            for place, module in thing.named_modules()
            for key, value in vars(module).items()
            if not key.startswith("_")
        }
    elif isinstance(thing, Mapping):
        inside = thing
    elif isinstance(thing, (list, tuple)):
        inside = dict(enumerate(thing))
    for key, value in inside.items():
        tensors |= _tensors_of(value, f"{name}.{key}", seen)
    return tensors


def digest_of(tensors: Mapping[str, Any]) -> str:
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:12]


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:120]


def version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
