"""The types between the scoring engine and the metrics, and the scorer of those that judge a picture on its own."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypedDict

import numpy as np

Reason = str | tuple[str, str]  # a code of the spec's `reasons`, or one with its detail
Value = float | Reason | Mapping[str, object]  # of one column; a mapping is stored as JSON
Signature = dict[str, str | int | float]  # what a value depends on


class Program(TypedDict):
    """What a metric of kind "round" knows of the step that it judges."""

    cycle: Sequence[str]  # the instructions of one round
    closes: bool
    small: bool  # its change covers little of the picture
    shows: str | None  # words for what the forward picture shows
    found: Mapping[str, object]  # the values that the step has from earlier metrics
    round: int
    audits: Sequence[Mapping[str, Sequence[Sequence[float]]] | None]  # what was done before each step of the round
    earlier: Sequence  # what was kept of every step before the round; only if the metric names `rounds`


class EmbedsMeaning(Protocol):
    """CLIP's scorer, for metrics that judge by meaning too."""

    def embed_words(self, words: str) -> np.ndarray:
        """The embedding of words."""

    def embed_pictures(self, pictures: Sequence[np.ndarray]) -> list[np.ndarray]:
        """One embedding for each picture."""

    def release(self) -> None:
        """Let the weights go."""


class AloneScorer:
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
