import functools
from typing import Any

from convergebench.metric_modules._evaluate import picture_modules
from convergebench.metric_modules._evaluate.images import Pair
from convergebench.metric_modules._shared.networks import available_device
from convergebench.metric_modules.clip_similarity import measure
from convergebench.metric_modules.clip_similarity.spec import SPEC

_model = functools.lru_cache(maxsize=2)(measure.load)


class ClipSimilarity(picture_modules.PictureModule):
    """Cosine similarity of two pictures' CLIP embeddings, higher is nearer in meaning, -1 to 1 and 1 for identical
    pictures. If the model's weights are absent the number is None, with a reason."""

    spec, fields, any_sizes, example = SPEC, ("clip_similarity",), True, {"checkpoint": measure.CHECKPOINT}

    def _compute(self, *args: Any, **given: Any) -> dict[str, object]:
        try:
            result = super()._compute(**given)
        except FileNotFoundError as absent:
            rows: list[picture_modules.Row] = [{"clip_similarity": None}] * len(given["predictions"])
            return picture_modules.means(rows, self.fields) | {"signature": None, "reason": str(absent)}
        return result | {"reason": None}

    def method(
        self, checkpoint: str = measure.CHECKPOINT, device: str = "cpu", dtype: str = "float32"
    ) -> tuple[picture_modules.Compare, dict]:
        model = _model(checkpoint, available_device(device), dtype)

        def compare(batch: list[Pair]) -> list[picture_modules.Row]:
            shown, originals = zip(*batch, strict=True)
            similarities = measure.compare(measure.embed(model, originals), measure.embed(model, shown))
            return [{"clip_similarity": similarity} for similarity in similarities]

        return compare, measure.signature(model)
