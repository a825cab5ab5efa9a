"""CLIP image similarity as an `evaluate` module; the pure functions are in measure.py."""

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
from convergebench.metric_modules.clip_similarity.measure import CHECKPOINT, Absent, compare, embed, load, signature

DESCRIPTION = """Cosine similarity of two pictures' CLIP embeddings, higher is nearer in meaning, -1 to 1 and 1 for
identical pictures. Where the model's weights are absent the number is None, with a reason."""

CITATION = """@inproceedings{radford2021learning,
  title = {Learning Transferable Visual Models From Natural Language Supervision},
  author = {Radford, Alec and Kim, Jong Wook and Hallacy, Chris and others},
  booktitle = {ICML}, year = {2021}
}"""

INPUTS = """
Args:
    predictions, references: pictures: Pillow images, arrays, tensors, paths or encoded bytes.
    checkpoint: a CLIP-like model's name on the Hub, or its folder; ViT-L/14 unless told.
    size: None takes pairs of any sizes, since the model brings each picture to its own; 'reference' or a number brings
        them to one size first, by one Lanczos resize.
    device: a torch device; dtype: 'float32' or 'bfloat16'.
    batch_size: pairs computed together; under `accelerate launch` batches are dealt to the ranks.
Returns:
    clip_similarity: the mean over the examples, or None; clip_similarity_values: one number each, or None;
    reason: why they are None, or None; signature: what they depend on.
"""

ready = functools.lru_cache(maxsize=2)(load)


class ClipSimilarity(ImageInputs, evaluate.Metric):
    """How alike two pictures are in what they show."""

    def _info(self) -> evaluate.MetricInfo:
        image = datasets.Image()
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=CITATION,
            inputs_description=INPUTS,
            features=datasets.Features({"predictions": image, "references": image}),
        )

    def _compute(
        self,
        predictions: list[Any],
        references: list[Any],
        checkpoint: str = CHECKPOINT,
        size: Size = None,
        device: str = "cpu",
        dtype: str = "float32",
        batch_size: int = 8,
    ) -> dict[str, Any]:
        found = batches(pairs(predictions, references, size, different=True), batch_size)
        try:
            known = ready(checkpoint, available_device(device), dtype)
        except Absent as absent:
            nothing = [None] * len(predictions)
            return {
                "clip_similarity": None,
                "clip_similarity_values": nothing,
                "reason": str(absent),
                "signature": None,
            }

        def similarities(batch: list[tuple[np.ndarray, np.ndarray]]) -> list[float]:
            shown, originals = zip(*batch, strict=True)
            return compare(embed(known, originals), embed(known, shown))

        values = [value for batch in dealt(found, similarities) for value in batch]
        return {
            "clip_similarity": sum(values) / len(values),
            "clip_similarity_values": values,
            "reason": None,
            "signature": signature_text("clip", signature(known), size=size),
        }
