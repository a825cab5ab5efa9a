"""The scorer of metrics that compare two pictures by one function."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .scoring import Signature, Value

# What a picture is turned into, what compares the reference's with an answer's, and the signature.
Loaded = tuple[Callable[[np.ndarray], Any], Callable[[Any, Any], dict[str, Value]], Signature]


class PairScorer:
    """A metric's `Scorer` is this class with its first argument: what loads the functions for a device."""

    def __init__(self, load: Callable[[str], Loaded], device: str, dtype: str, earlier: Mapping[str, object]):
        self.prepare, self._compare, self.signature = load(device)

    def compare(self, reference: Any, pictures: Sequence[np.ndarray], earlier: object) -> list[dict[str, Value]]:
        return [self._compare(reference, self.prepare(picture)) for picture in pictures]
