"""The base class of the `evaluate` modules that take pictures without references. Import it as a module."""

from collections.abc import Callable
from typing import ClassVar

import datasets

from .._evaluate import picture_modules
from .._evaluate.images import pixels
from .._shared.scoring import reason_text, signature_text
from .nss import AloneScorer


class AloneModule(picture_modules.PictureModule):
    """A module that judges each picture on its own; `scorer` is the class that the scoring engine runs."""

    columns: ClassVar[dict[str, object]] = {"predictions": datasets.Image()}
    example: ClassVar[dict[str, object]] = {}
    scorer: Callable[..., AloneScorer]
    _made: AloneScorer | None = None

    def _compute(
        self, predictions: list[object], device: str = "cpu", dtype: str = "float64", batch_size: int = 1
    ) -> dict[str, object]:
        self._made = self._made or self.scorer("cpu", "float64", {})
        name, rows = self._made.column, []
        for number, picture in enumerate(predictions):
            value = self._made.score(pixels(picture, f"prediction {number}"))
            if not isinstance(value, float):
                raise ValueError(f"prediction {number}: {reason_text(self.spec, value)}")
            rows.append({name: value})
        return picture_modules.means(rows, [name]) | {"signature": signature_text(name, self._made.signature)}
