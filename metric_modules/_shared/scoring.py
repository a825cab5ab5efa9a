"""The types between the scoring engine and the metrics, and the base class of no-reference scorers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

Reason = str | tuple[str, str]  # a code of the spec's `reasons`, or one with its detail
Value = float | Reason | Mapping[str, object]  # of one column; a mapping is stored as JSON
Signature = dict[str, str | int | float]  # what a value depends on


class Program(TypedDict):
    """The facts about a step that a metric of kind "round" receives."""

    cycle: Sequence[str]  # the instructions of one round
    closes: bool
    small: bool  # whether its change covers little of the picture
    shows: str | None  # words for what the forward picture shows
    found: Mapping[str, object]  # the step's values from earlier metrics
    round: int
    # What the recall audit did before each step of the round.
    audits: Sequence[Mapping[str, Sequence[Sequence[float]]] | None]
    earlier: Sequence  # the embeddings of every step before the round; only if the spec sets `rounds`


class AloneScorer:
    """Scores each picture by itself, on the processor, in float64, whatever device and dtype are asked for.

    A metric's `Scorer` is this class with the first four arguments: its column, what its signature has, the function
    that gives a picture's number (or why there is none), and one that loads what the function takes besides.
    """

    def __init__(
        self,
        column: str,
        settings: Signature,
        function: Callable[..., float | Reason],
        load: Callable[[], Sequence[Any]],
        device: str,
        dtype: str,
        earlier: Mapping[str, object],
    ):
        self.column, self.function, self.parameters = column, function, load()
        self.signature = {**settings, "device": "cpu", "batch": 1}

    def score(self, picture: np.ndarray) -> float | Reason:
        return self.function(picture, *self.parameters)

    def prepare(self, picture: np.ndarray) -> None:
        """Nothing: the reference is not used."""

    def compare(
        self, reference: None, pictures: Sequence[np.ndarray], earlier: object
    ) -> list[dict[str, float | Reason]]:
        return [{self.column: self.score(picture)} for picture in pictures]


def signature_text(name: str, settings: Mapping[str, object], **options: object) -> str:
    """What a number depends on, in one line.

    >>> signature_text("psnr", {"version": 1, "ceiling": 100.0}, size=None)
    'psnr/1 ceiling=100 size=None'
    """
    words = [f"{name}/{settings.get('version', 1)}"]
    for key, value in {**settings, **options}.items():
        if key != "version":
            words.append(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}")
    return " ".join(words)


def reason_text(spec: Mapping[str, Any], reason: Reason) -> str:
    code, detail = (reason, "") if isinstance(reason, str) else reason
    return spec["reasons"][code][1].replace("{}", detail)
