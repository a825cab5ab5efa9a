"""CLIP image similarity as an `evaluate` module; the pure functions are in measure.py."""

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
from convergebench.metric_modules.clip_similarity import measure

_ready = functools.lru_cache(maxsize=2)(measure.load)


class ClipSimilarity(picture_modules.PictureModule):
    """Cosine similarity of two pictures' CLIP embeddings, higher is nearer in meaning, -1 to 1 and 1 for identical
    pictures. If the model's weights are absent the number is None, with a reason."""

    cited = """@inproceedings{radford2021learning,
  title = {Learning Transferable Visual Models From Natural Language Supervision},
  author = {Radford, Alec and Kim, Jong Wook and Hallacy, Chris and others},
  booktitle = {ICML}, year = {2021}
}"""
    arguments = f"""
Args:
    {picture_modules.PAIRS}
    checkpoint: a CLIP-like model's name on the Hub, or its folder; ViT-L/14 by default.
    size: None takes pairs of any sizes, since the model brings each picture to its own; 'reference' or a number brings
        them to one size first, by one Lanczos resize.
    device: a torch device; dtype: 'float32' or 'bfloat16'.
    {picture_modules.BATCH}
Returns:
    clip_similarity: the mean over the examples, or None; clip_similarity_values: one number each, or None;
    reason: why they are None, or None; signature: what they depend on.
"""

    def _compute(
        self,
        predictions: list[object],
        references: list[object],
        checkpoint: str = measure.CHECKPOINT,
        size: Size = None,
        device: str = "cpu",
        dtype: str = "float32",
        batch_size: int = 8,
    ) -> dict[str, object]:
        compared = pairs(predictions, references, size, different=True)
        try:
            model = _ready(checkpoint, available_device(device), dtype)
        except measure.Absent as absent:
            result = picture_modules.means([{"clip_similarity": None}] * len(compared), ["clip_similarity"])
            return result | {"reason": str(absent), "signature": None}

        def compare(batch: list[Pair]) -> list[picture_modules.Row]:
            shown, originals = zip(*batch, strict=True)
            similarities = measure.compare(measure.embed(model, originals), measure.embed(model, shown))
            return [{"clip_similarity": similarity} for similarity in similarities]

        result = picture_modules.means(in_batches(compared, batch_size, compare), ["clip_similarity"])
        return result | {"reason": None, "signature": signature_text("clip", measure.signature(model), size=size)}
