"""SSIMULACRA2, computed by the package of that name."""

import importlib.metadata
import io
from functools import partial

import numpy as np
from PIL import Image

from .._shared.networks import require_packages
from .._shared.scoring import Loaded, PairScorer, Value


def _load(device: str) -> Loaded:
    require_packages("SSIMULACRA2", "ssimulacra2", extra="senses")
    from ssimulacra2 import compute_ssimulacra2

    def compare(reference: bytes, answer: bytes) -> dict[str, Value]:
        return {"ssimulacra2": float(compute_ssimulacra2(io.BytesIO(reference), io.BytesIO(answer)))}

    return _as_file, compare, {"version": 1, "ssimulacra2": importlib.metadata.version("ssimulacra2")}


def _as_file(picture: np.ndarray) -> bytes:
    """The package reads files only."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PPM")
    return buffer.getvalue()


Scorer = partial(PairScorer, _load)
