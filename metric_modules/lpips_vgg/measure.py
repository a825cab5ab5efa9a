"""LPIPS with VGG16, as a column of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

from .._shared.scoring import Value
from ..lpips import measure, weights

NET = "vgg"


def missing_weights() -> str | None:
    return None if weights.weights_file(NET).is_file() else "needs `convergebench weights lpips`"


class Scorer(measure.Scorer):
    net = NET

    def compare(self, reference: Any, pictures: Any, earlier: object) -> Sequence[Mapping[str, Value]]:
        return [{"lpips_vgg": row["lpips"]} for row in super().compare(reference, pictures, earlier)]
