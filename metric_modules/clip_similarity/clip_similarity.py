"""Cosine similarity of two pictures' CLIP embeddings, from -1 to 1: higher is nearer in meaning, and identical
pictures give 1. If the model's weights are not available, the number is None, with a reason."""

import functools
from collections.abc import Sequence

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules._evaluate.images import Pair
from convergebench.metric_modules._shared.networks import available_device
from convergebench.metric_modules.clip_similarity import measure
from convergebench.metric_modules.clip_similarity.spec import SPEC

_FIELDS = ("clip_similarity",)
_model = functools.lru_cache(maxsize=2)(measure.load)


def _method(
    checkpoint: str = measure.CHECKPOINT, device: str = "cpu", dtype: str = "float32"
) -> tuple[picture_modules.Compare, dict]:
    model = _model(checkpoint, available_device(device), dtype)

    def compare(batch: list[Pair]) -> list[picture_modules.Row]:
        predictions, references = zip(*batch, strict=True)
        similarities = measure.compare(measure.embed(model, references), measure.embed(model, predictions))
        return [{"clip_similarity": similarity} for similarity in similarities]

    return compare, measure.signature(model)


_compare = picture_modules.paired(SPEC, _method, _FIELDS, any_sizes=True)


def _similarity(
    predictions: Sequence[object], references: Sequence[object], **options: object
) -> dict[str, object]:
    try:
        return _compare(predictions, references, **options) | {"reason": None}
    except FileNotFoundError as absent:
        rows: list[picture_modules.Row] = [{"clip_similarity": None}] * len(predictions)
        return picture_modules.means(rows, _FIELDS) | {"signature": None, "reason": str(absent)}


ClipSimilarity = picture_modules.PictureModule.of(
    __name__, __doc__, _similarity, example={"checkpoint": measure.CHECKPOINT}
)
