"""Distances of pictures in files by the functions of the metric folders, each pair of contents measured once."""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from convergebench.generation.pictures import decode_array, resize_to
from convergebench.metric_modules.psnr import measure as psnr
from convergebench.metric_modules.ssim import measure as ssim

Distances = dict[str, float]


_pairs: dict[tuple[bool, str, str], Distances] = {}


class Measuring:
    """Measures pairs of files; pairs of the same bytes are measured once in a process."""

    def __init__(self, with_lpips: bool = True):
        self.featured: tuple[Path | None, Any] = (None, None)  # the last reference and its features in LPIPS
        self.model = load_lpips() if with_lpips else None

    def distances(self, reference: Path, prediction: Path) -> Distances:
        key = self.model is None, digest(reference), digest(prediction)
        if key not in _pairs:
            _pairs[key] = self.measure(reference, prediction)
        return _pairs[key]

    def measure(self, reference: Path, prediction: Path) -> Distances:
        original = picture(reference)
        answer = resize_to(picture(prediction), *original.shape[1::-1])  # by one Lanczos resize
        distances = psnr.psnr_and_rmse(original, answer)
        distances |= {"ssim": ssim.ssim(ssim.reference(original, "gaussian"), answer)}
        if self.model is not None:
            from convergebench.metric_modules.damage import measure as damage
            from convergebench.metric_modules.lpips import measure as lpips

            if self.featured[0] != reference:
                self.featured = reference, lpips.features(self.model, [original])
            [distance] = lpips.distances(self.model, self.featured[1], [answer])
            worst = damage.compare(self.model, damage.prepare(self.model, original), answer)[0]
            distances |= distance | {"damage": worst}
        return distances


def load_lpips():
    """The network of LPIPS, or None where its weights are not here."""
    from convergebench.metric_modules.lpips import measure, weights

    try:
        tensors, checksum = weights.load_weights("alex")
    except FileNotFoundError:
        return None
    return measure.model("alex", tensors, "cpu", "float32", checksum)


@lru_cache(64)
def picture(path: Path) -> np.ndarray:
    return decode_array(path.read_bytes())


@lru_cache(100_000)
def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:24]


def retained(values: Mapping[str, float], floors: Mapping[str, float]) -> dict[str, float]:
    """The qualities of the headline on the scale from 1, untouched, to 0, an unrelated picture."""
    from convergebench.metric_modules._engine.floors import retained_value
    from convergebench.metric_modules.specs import ceilings

    return {name: retained_value(values[name], floors[name], ceilings()[name]) for name in floors}
