"""Learned perceptual distance (LPIPS 0.1), lower is nearer, 0 for identical pictures, with no declared upper bound."""

import functools
from collections.abc import Sequence

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules._evaluate.images import Pair
from convergebench.metric_modules._shared.networks import available_device
from convergebench.metric_modules.lpips import measure, weights
from convergebench.metric_modules.lpips.spec import SPEC


@functools.lru_cache(maxsize=2)
def _model(net: str, device: str, dtype: str) -> measure.Model:
    tensors, digest = weights.load_weights(net)
    return measure.model(net, tensors, available_device(device), dtype, digest)


def _fetch_weights(net: str = "alex") -> None:
    if not weights.weights_file(net).is_file():
        weights.fetch_weights(nets=[net])


def _method(
    net: str = "alex", device: str = "cpu", dtype: str = "float32"
) -> tuple[picture_modules.Compare, dict]:
    model = _model(net, device, dtype)

    def compare(batch: list[Pair]) -> Sequence[picture_modules.Row]:
        shown, originals = zip(*batch, strict=True)
        return measure.compare(measure.features(model, originals), measure.features(model, shown))

    return compare, measure.signature(model)


Lpips = picture_modules.PictureModule.of(
    __name__, __doc__, picture_modules.paired(SPEC, _method, fields=("lpips",)), _fetch_weights
)
