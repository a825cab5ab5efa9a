"""LPIPS as an `evaluate` module; the pure functions are in measure.py, and the weights arrive by weights.py."""

import functools

from convergebench.metric_modules._shared import picture_modules
from convergebench.metric_modules._shared.images import (
    Pair,
    Size,
    in_batches,
    pairs,
    signature_text,
)
from convergebench.metric_modules._shared.networks import available_device
from convergebench.metric_modules.lpips import measure, weights


@functools.lru_cache(maxsize=2)
def ready(net: str, device: str, dtype: str) -> measure.Model:
    """The network with the weights from the user's cache."""
    tensors, digest = weights.load(net)
    return measure.model(net, tensors, available_device(device), dtype, digest)


class Lpips(picture_modules.PictureModule):
    """Learned perceptual distance (LPIPS 0.1), lower is nearer, 0 for identical pictures, with no declared upper bound;
    and the same of the picture's worst tile out of 8 x 8."""

    cited = """@inproceedings{zhang2018unreasonable,
  title = {The Unreasonable Effectiveness of Deep Features as a Perceptual Metric},
  author = {Zhang, Richard and Isola, Phillip and Efros, Alexei A. and Shechtman, Eli and Wang, Oliver},
  booktitle = {CVPR}, year = {2018}
}"""
    arguments = f"""
Args:
    {picture_modules.PAIRS}
    net: 'alex' or 'vgg'.
    {picture_modules.SIZE}
    device: a torch device; dtype: 'float32' or 'bfloat16' for the convolutions.
    {picture_modules.BATCH}
Returns:
    lpips, lpips_worst_tile: means over the examples; lpips_values, lpips_worst_tile_values: one number each;
    signature: what they depend on.
"""

    def fetch_weights(self, net: str = "alex") -> None:
        """Bring a network's weights into the user's cache, unless they are there."""
        if not weights.path(net).is_file():
            weights.fetch([net])

    def _compute(
        self,
        predictions: list[object],
        references: list[object],
        net: str = "alex",
        size: Size = None,
        device: str = "cpu",
        dtype: str = "float32",
        batch_size: int = 8,
    ) -> dict[str, object]:
        compared = pairs(predictions, references, size, measure.SMALLEST)
        model = ready(net, device, dtype)

        def compare(batch: list[Pair]) -> list[picture_modules.Row]:
            shown, originals = zip(*batch, strict=True)
            distances = measure.compare(measure.features(model, originals), measure.features(model, shown))
            return [{"lpips": distance.lpips, "lpips_worst_tile": distance.worst_tile} for distance in distances]

        result = picture_modules.means(in_batches(compared, batch_size, compare), measure.COLUMNS)
        return result | {"signature": signature_text("lpips", measure.signature(model), size=size)}
