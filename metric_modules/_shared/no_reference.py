"""What metrics share that judge a picture on its own: how the scoring engine calls them."""

from collections.abc import Mapping, Sequence

import numpy as np

Reason = tuple[str, str] | str
Signature = dict[str, str | int | float]


class Scorer:
    """Scores each picture by itself, on the processor, in float64, whatever device and dtype are asked for."""

    column: str
    signature: Signature

    def __init__(self, device: str, dtype: str, earlier: Mapping[str, object]):
        """A metric with parameters loads them here."""

    def score(self, picture: np.ndarray) -> float | Reason:
        """The number of an RGB picture of bytes, or why there is none."""
        raise NotImplementedError

    def prepare(self, picture: np.ndarray) -> None:
        """The reference is not looked at."""

    def compare(
        self, reference: None, pictures: Sequence[np.ndarray], earlier: object
    ) -> list[dict[str, float | Reason]]:
        """The score of each picture."""
        return [{self.column: self.score(picture)} for picture in pictures]
