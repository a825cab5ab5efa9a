"""A metric of pyiqa, called as its users call it: `pyiqa.create_metric(NAME)(pictures)`."""

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

from .measure import Score, digest_of, version_of

INSTALL = (
    "pyiqa is not installed: pip install 'convergebench[no-reference]' "
    "(it brings torchvision, so in an environment whose torch and torchvision belong together)"
)
TOGETHER_ON_A_GPU = 8


class PyiqaNetwork:
    """One of pyiqa's no-reference metrics with its default weights."""

    def __init__(self, name: str, device: str):
        if importlib.util.find_spec("pyiqa") is None:
            raise FileNotFoundError(INSTALL)
        self.model = create(name, device)
        self.device = device
        self.most_together = 1 if device == "cpu" else TOGETHER_ON_A_GPU
        weights = digest_of(self.model.net.state_dict())
        self.about: dict[str, Any] = {"pyiqa": version_of("pyiqa"), "torch": version_of("torch"), "weights": weights}

    def scores(self, pictures: Sequence[np.ndarray]) -> list[Score]:
        """One number for each picture; all have one size."""
        import torch

        batch = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).to(torch.float32) / 255
        try:
            found = self.model(batch)
        except RuntimeError as error:  # what torch raises where a window is larger than the picture
            return [("too_small_for_network", str(error).splitlines()[0][:80])] * len(pictures)
        found = found[0] if isinstance(found, tuple) else found
        return [float(value) for value in found.detach().cpu().reshape(len(pictures), -1).mean(1)]


def create(name: str, device: str) -> Any:
    """The metric with its weights; FileNotFoundError where they do not arrive."""
    try:
        import pyiqa
    except (ImportError, RuntimeError) as error:
        raise FileNotFoundError(f"pyiqa does not load: {str(error).splitlines()[0][:120]}") from error
    try:
        return pyiqa.create_metric(name, device=device)
    except OSError as error:  # urllib's and the Hub's errors are among these
        reason = str(error).splitlines()[0][:120]
        raise FileNotFoundError(f"the weights of {name} are not here and did not arrive: {reason}") from error
