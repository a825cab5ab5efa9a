"""The `evaluate` modules that take pictures without references. Import it as a module."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import datasets

from .._evaluate import picture_modules
from .._evaluate.images import pixels
from .._shared.scoring import PairScorer, reason_text, signature_text


def module(
    file: str,
    description: str | None,
    spec: Mapping[str, Any],
    scorer: Callable[..., PairScorer],
    fetch_weights: Callable[..., object] | None = None,
) -> type[picture_modules.PictureModule]:
    """A module that judges each picture on its own, with what the scoring engine runs."""
    load = cache(lambda: scorer("cpu", "float64", {}))

    def compute(
        predictions: Sequence[object], device: str = "cpu", dtype: str = "float64", batch_size: int = 1
    ) -> dict[str, object]:
        made, name = load(), spec["name"]
        rows: list[dict[str, Any]] = []
        for number, picture in enumerate(predictions):
            [row] = made.compare(None, [pixels(picture, f"prediction {number}")], [])
            value = row[name]
            if isinstance(value, str | tuple):
                raise ValueError(f"prediction {number}: {reason_text(spec, value)}")
            rows.append({name: value})
        return picture_modules.means(rows, [name]) | {"signature": signature_text(name, made.signature)}

    columns = {"predictions": datasets.Image()}
    return picture_modules.PictureModule.of(
        file, description, compute, fetch_weights, columns=columns, example={}
    )
