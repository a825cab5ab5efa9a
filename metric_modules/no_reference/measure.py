"""The no-reference metrics that other libraries compute, as the scoring engine runs them.

Pictures are scored one by one on the processor, and in batches on a GPU if the network's score of a picture does not
depend on the others: a batch never changes a score by more than rounding. How many went together is in the signature.
"""

import importlib.metadata
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .._shared.scoring import Signature
from ..nr_gap.ranges import COLUMNS

if TYPE_CHECKING:
    import torch

_ONE_AT_A_TIME = Lock()  # libraries keep state between the lines of one call
Score = float | tuple[str, str]


class _Judge(Protocol):
    """One metric, ready to judge pictures."""

    signature: Signature  # versions and weights, for the signature
    most_together: int  # pictures in one call

    def scores(self, pictures: Sequence[np.ndarray]) -> list[Score]:
        """The score of each picture, or why there is none."""


def judge_of(metric: str, device: str) -> _Judge:
    """The metric's own judge; FileNotFoundError says what is missing."""
    row = COLUMNS[metric]
    if row.computed_by == "pyiqa":
        from .pyiqa_networks import PyiqaNetwork

        return PyiqaNetwork(row.library_name, device)
    absent = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if absent:
        raise FileNotFoundError(f"{' and '.join(absent)} is not installed: pip install 'convergebench[score]'")
    if metric == "rali":
        from .rali import Rali

        return Rali(row.library_name, device)
    from .visualquality_r1 import VisualQualityR1

    return VisualQualityR1(row.library_name, device)


class Scorer:
    """One of the metrics, by its column."""

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, object], *, metric: str):
        self.metric = metric
        self.judge = judge_of(metric, device)
        self.signature = {
            "version": 1,
            **self.judge.signature,
            "device": device.partition(":")[0],
            "batch": self.judge.most_together,
        }

    def prepare(self, picture: np.ndarray) -> None:
        """Nothing: the reference is not used."""

    def compare(self, reference: None, pictures: Sequence[np.ndarray], earlier: object) -> list[dict[str, Score]]:
        """The score of each picture, in batches of at most the size in the signature."""
        most, scores = self.judge.most_together, []
        for start in range(0, len(pictures), most):
            with _ONE_AT_A_TIME:
                scores += self.judge.scores(pictures[start : start + most])
        return [{self.metric: score} for score in scores]


def version_of(package: str) -> str:
    """The installed version of a package; "unknown" if it was put on the path by hand."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def missing_weights(metric: str) -> str | None:
    """What `convergebench list metrics` says of a metric whose library or weights are absent."""
    row = COLUMNS[metric]
    if row.computed_by == "pyiqa":
        spec = importlib.util.find_spec("pyiqa")
        return None if spec else "needs pip install 'convergebench[no-reference]' where torchvision may be"
    if Path(row.library_name).is_dir():
        return None
    return f"needs weights of {row.library_name}, which the first use fetches from the Hub"


def digest_of(parts: Mapping[str, "torch.Tensor"]) -> str:
    """The beginning of the sha256 of a network's tensors, by name."""
    import hashlib

    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(parts.items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:12]


def files_of(repository: str, inside: str = "", patterns: Sequence[str] | None = None) -> Path:
    """A folder, or the files of a repository of the Hub; FileNotFoundError if they cannot be fetched."""
    if Path(repository).is_dir():
        return Path(repository) / inside
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return Path(snapshot_download(repository, allow_patterns=list(patterns) if patterns else None)) / inside
    except (OSError, ValueError, HfHubHTTPError) as error:
        reason = str(error).splitlines()[0][:120]
        raise FileNotFoundError(f"the weights of {repository} are not here and did not arrive: {reason}") from error
