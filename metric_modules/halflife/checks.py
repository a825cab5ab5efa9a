"""What half-life accepts: every refusal is one sentence that says what was given and what is allowed."""

import math
from collections.abc import Sequence
from numbers import Real

from .outcomes import END_CAUSES, ENDS, known

SCALES = ("retained", "absolute")
DIRECTIONS = ("higher", "lower")


def check_options(scale: str, threshold: float | None, better: str, confidence: float) -> None:
    if scale not in SCALES:
        raise ValueError(f"no scale {scale!r}; it is one of {', '.join(SCALES)}")
    if better not in DIRECTIONS:
        raise ValueError(f"no direction {better!r}; better is one of {', '.join(DIRECTIONS)}")
    if threshold is None or not math.isfinite(threshold):
        raise ValueError(f"the threshold is {threshold}; on the absolute scale it is a number in the metric's own unit")
    if scale == "retained" and (better == "lower" or not 0 < threshold <= 1):
        raise ValueError(
            f"threshold {threshold} with better={better!r} on the retained scale, where higher is better and the "
            "threshold lies above 0 and at most at 1; scale='absolute' takes any other"
        )
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it lies between 0 and 1, such as 0.95")


def check_rounds(curves: Sequence[Sequence[float | None]], rounds: Sequence[int] | None) -> list[int]:
    """The rounds as given, or 1, 2, 3, ... to the end of the longest curve."""
    if not len(curves):
        raise ValueError("no curves were given; half-life needs at least one list of values")
    for number, curve in enumerate(curves, 1):
        if not listed(curve):
            raise ValueError(
                f"curve {number} is {curve!r}; each curve is a list of numbers, with None for a missing one"
            )
    longest = max(len(curve) for curve in curves)
    if rounds is None:
        return list(range(1, max(longest, 1) + 1))
    whole = [int(each) for each in rounds]
    if not whole or whole != list(rounds) or whole[0] < 1 or sorted(set(whole)) != whole:
        raise ValueError(
            f"rounds are {list(rounds)}; they are whole numbers from 1 on, each larger than the one before"
        )
    if longest > len(whole):
        raise ValueError(f"a curve of {longest} values was given with {len(whole)} rounds; it has one value per round")
    return whole


def listed(curve: object) -> bool:
    """Whether it is a list, tuple or array of numbers and None."""
    return hasattr(curve, "__len__") and all(value is None or isinstance(value, Real) for value in curve)  # type: ignore[attr-defined]


def check_counts(name: str, given: Sequence | None, count: int) -> list:
    """A list with one entry per chain, or an empty one where none was given."""
    if given is not None and len(given) != count:
        raise ValueError(f"{len(given)} {name} were given for {count} curves; there is one per curve")
    return [] if given is None else list(given)


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
