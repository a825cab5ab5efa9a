"""Floors: how far an unrelated picture is from a reference, in each metric's own unit."""

from collections.abc import Mapping, Sequence
from statistics import median

_CLOSE = 0.5  # retained quality above which an unrelated picture would pass for half the original
SHARE = 0.05  # of resembling pictures; a reference with more (a texture, say) is left out of headlines


def floor(unrelated: Sequence[float]) -> float:
    """A reference's floor: the median of the metric over all unrelated sources of the suite."""
    return float(median(unrelated))


def resembling(
    unrelated: Mapping[str, Sequence[float]], floors: Mapping[str, float], ceilings: Mapping[str, float]
) -> list[bool]:
    """Which unrelated pictures seem to have kept more than half of the reference on every quality metric.

    `unrelated` holds, for each quality metric, one value for each unrelated picture, in one order.
    """
    columns = [
        [retained_value(value, floors[name], ceilings[name]) for value in values] for name, values in unrelated.items()
    ]
    return [min(row) > _CLOSE for row in zip(*columns, strict=True)]


def retained_value(value: float, floor: float, ceiling: float) -> float:
    """r = (value - floor) / (ceiling - floor), clipped to 0..1: 1 = untouched, 0 = another picture altogether."""
    return min(max((value - floor) / (ceiling - floor), 0.0), 1.0)
