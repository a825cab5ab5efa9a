"""What half-life accepts: every refusal is one sentence that says what was given and what is allowed."""

import math
from collections.abc import Sequence

from .._shared.series import check_confidence
from .causes import END_CAUSES
from .outcomes import ENDS, known

_SCALES = ("retained", "absolute")
_DIRECTIONS = ("higher", "lower")


def check_options(scale: str, threshold: float | None, better: str, confidence: float) -> None:
    if scale not in _SCALES:
        raise ValueError(f"no scale {scale!r}; the scales are {', '.join(_SCALES)}")
    if better not in _DIRECTIONS:
        raise ValueError(f"no direction {better!r}; the directions are {', '.join(_DIRECTIONS)}")
    if threshold is None or not math.isfinite(threshold):
        raise ValueError(f"threshold must be a number in the metric's own unit on the absolute scale, got {threshold}")
    if scale == "retained" and (better == "lower" or not 0 < threshold <= 1):
        raise ValueError(
            f"threshold {threshold} with better={better!r} on the retained scale, where higher is better and the "
            "threshold must be above 0 and at most 1; scale='absolute' takes any other"
        )
    check_confidence(confidence)


def check_curve(
    number: int, curve: Sequence[float | None], rounds: Sequence[int], scale: str, end: str, end_round: int | None
) -> None:
    if end not in ENDS:
        raise ValueError(f"curve {number} ends with {end!r}; an end is one of {', '.join(ENDS)}")
    outside = [value for value in curve if known(value) and not 0 <= value <= 1]  # type: ignore[operator]
    if scale == "retained" and outside:
        raise ValueError(
            f"curve {number} holds {outside[0]:g}, and values on the retained scale lie between 0 and 1; "
            "scale='absolute' takes a metric's own values"
        )
    last = max((round for round, value in zip(rounds, curve, strict=False) if known(value)), default=0)
    if end in END_CAUSES and last == rounds[-1]:
        raise ValueError(f"curve {number} ends with {end!r} and yet has a value in the last round, {rounds[-1]}")
    if end_round is not None and not last < end_round <= rounds[-1] and end != "complete":
        raise ValueError(
            f"curve {number} ended in round {end_round}, and that lies after its last value (round {last}) and "
            f"at most at round {rounds[-1]}"
        )
