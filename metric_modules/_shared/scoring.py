"""The types between the scoring engine and the metrics, and their words in results."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

Reason = str | tuple[str, str]  # a code of the spec's `reasons`, or one with its detail
Value = float | Reason | Mapping[str, object]  # of one column; a mapping is stored as JSON
Signature = dict[str, str | int | float]  # what a value depends on
# What a picture is turned into, what compares the reference's with an answer's, and the signature.
Loaded = tuple[Callable[[np.ndarray], Any], Callable[[Any, Any], dict[str, Value]], Signature]


class Program(TypedDict):
    """The facts about a step that a metric of kind "round" receives."""

    program: str  # its id
    cycle: Sequence[str]  # the instructions of one round
    closes: bool
    small: bool  # whether its change covers little of the picture
    shows: str | None  # words for what the forward picture shows
    found: Mapping[str, object]  # the step's values from earlier metrics
    round: int
    # What the recall audit did before each step of the round.
    audits: Sequence[Mapping[str, Sequence[Sequence[float]]] | None]
    earlier: Sequence  # the embeddings of every step before the round; only if the spec sets `rounds`


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


class PairScorer:
    """A metric's `Scorer` is this class with its first argument: what loads the functions for a device."""

    def __init__(self, load: Callable[[str], Loaded], device: str, dtype: str, earlier: Mapping[str, object]):
        self.prepare, self._compare, self.signature = load(device)

    def compare(self, reference: Any, pictures: Sequence[np.ndarray], earlier: object) -> list[dict[str, Value]]:
        return [self._compare(reference, self.prepare(picture)) for picture in pictures]
