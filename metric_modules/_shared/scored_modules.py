"""The base class of the `evaluate` modules that use the engine's scorer. Import it as a module, like modules.py."""

from collections.abc import Callable
from typing import Any

from . import picture_modules
from .images import Pair, Size, in_batches, pairs
from .networks import available_device
from .scoring import PairScorer, signature_text


class ScoredModule(picture_modules.PictureModule):
    """A module that computes what the scoring engine computes, with the engine's `scorer`."""

    scorer: Callable[..., PairScorer]

    def _compute(
        self,
        predictions: list[object],
        references: list[object],
        size: Size = None,
        batch_size: int = 1,
        device: str = "cpu",
        dtype: str = "float32",
    ) -> dict[str, object]:
        scorer = self.scorer(available_device(device), dtype, {})

        def compare(batch: list[Pair]) -> list[dict[str, Any]]:
            return [scorer.compare(scorer.prepare(original), [shown], [])[0] for shown, original in batch]

        rows = in_batches(pairs(predictions, references, size), batch_size, compare)
        fields = [column["name"] for column in self.spec["columns"] if "type" not in column]
        signature = signature_text(self.spec["name"], scorer.signature, size=size)
        return picture_modules.means_and_reasons(self.spec, rows, fields) | {"signature": signature}
