"""LPIPS as an `evaluate` module; the pure functions are in measure.py, and the weights arrive by weights.py."""

import functools
from typing import Any

import datasets
import evaluate
import numpy as np
from convergebench.metric_modules._shared.images import (
    ImageInputs,
    Size,
    available_device,
    batches,
    dealt,
    pairs,
    signature_text,
)
from convergebench.metric_modules.lpips.measure import SMALLEST, Distance, Model, compare, features, model, signature
from convergebench.metric_modules.lpips.weights import fetch, load, path

DESCRIPTION = """Learned perceptual distance (LPIPS 0.1), lower is nearer, 0 for identical pictures, with no declared
upper bound; and the same of the picture's worst tile out of 8 x 8."""

CITATION = """@inproceedings{zhang2018unreasonable,
  title = {The Unreasonable Effectiveness of Deep Features as a Perceptual Metric},
  author = {Zhang, Richard and Isola, Phillip and Efros, Alexei A. and Shechtman, Eli and Wang, Oliver},
  booktitle = {CVPR}, year = {2018}
}"""

INPUTS = """
Args:
    predictions, references: pictures: Pillow images, arrays, tensors, paths or encoded bytes.
    net: 'alex' or 'vgg'.
    size: None refuses pairs of different sizes; 'reference' brings the prediction to its reference's size, a number
        brings both to that short side, by one Lanczos resize.
    device: a torch device; dtype: 'float32' or 'bfloat16' for the convolutions.
    batch_size: pairs computed together; under `accelerate launch` batches are dealt to the ranks.
Returns:
    lpips, lpips_worst_tile: means over the examples; lpips_values, lpips_worst_tile_values: one number each;
    signature: what they depend on.
"""


@functools.lru_cache(maxsize=2)
def ready(net: str, device: str, dtype: str) -> Model:
    """The network with the weights from the user's cache."""
    tensors, digest = load(net)
    return model(net, tensors, available_device(device), dtype, digest)


class Lpips(ImageInputs, evaluate.Metric):
    """How different two pictures look, by the features of a network that has learned to see."""

    def _info(self) -> evaluate.MetricInfo:
        image = datasets.Image()
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=CITATION,
            inputs_description=INPUTS,
            features=datasets.Features({"predictions": image, "references": image}),
        )

    def fetch_weights(self, net: str = "alex") -> None:
        """Bring a network's weights into the user's cache, unless they are there."""
        if not path(net).is_file():
            fetch([net])

    def _compute(
        self,
        predictions: list[Any],
        references: list[Any],
        net: str = "alex",
        size: Size = None,
        device: str = "cpu",
        dtype: str = "float32",
        batch_size: int = 8,
    ) -> dict[str, Any]:
        found = batches(pairs(predictions, references, size, SMALLEST), batch_size)
        known = ready(net, device, dtype)

        def distances(batch: list[tuple[np.ndarray, np.ndarray]]) -> list[Distance]:
            shown, originals = zip(*batch, strict=True)
            return compare(features(known, originals), features(known, shown))

        done = [distance for batch in dealt(found, distances) for distance in batch]
        values, tiles = [distance.lpips for distance in done], [distance.worst_tile for distance in done]
        return {
            "lpips": sum(values) / len(values),
            "lpips_worst_tile": sum(tiles) / len(tiles),
            "lpips_values": values,
            "lpips_worst_tile_values": tiles,
            "signature": signature_text("lpips", signature(known), size=size),
        }
