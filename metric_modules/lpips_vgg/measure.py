"""LPIPS with VGG16, as a column of its own."""

from functools import partial

from ..lpips import measure, weights

NET = "vgg"


def missing_weights() -> str | None:
    return None if weights.weights_file(NET).is_file() else "needs `convergebench weights lpips`"


Scorer = partial(measure.Scorer, net=NET, column="lpips_vgg")
