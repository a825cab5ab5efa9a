"""Does an editor contract? The factor between rounds, the growth of the error, its shape, and the fixed point."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import ClassVar

from convergebench.metric_modules._shared import modules
from convergebench.metric_modules._shared.series import (
    Series,
    check_confidence,
    check_counts,
    check_series,
    checked_rounds,
)
from convergebench.metric_modules.contraction.growth import (
    exponent,
    factor,
    fixed_point_distance,
    measured,
)
from convergebench.metric_modules.contraction.shape import shape
from convergebench.metric_modules.halflife.intervals import mean_over_clusters

_GROWTHS = {"jitter": 0.0, "random walk": 1.0, "drift": 2.0}


def contraction(
    mse: Sequence[Series],
    steps: Sequence[Series] | None = None,
    rounds: Sequence[int] | None = None,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> dict[str, object]:
    """Factor, growth, shape and fixed point of chains from their distances. Range: q and exponents from 0 up.

    >>> round(contraction([[25.0, 56.25, 76.5625]], [[5.0, 2.5, 1.25]])["q"], 6)
    0.5
    """
    at = _checked(mse, steps, rounds, clusters, confidence)
    sources = list(range(len(mse))) if clusters is None else list(clusters)
    factors = [factor(values) for values in steps] if steps is not None else [None] * len(mse)
    exponents = [exponent(values, at) for values in mse]
    fixed = [fixed_point_distance(values, at, q) for values, q in zip(mse, factors, strict=True)]
    shapes = [shape(values, at) for values in mse]
    q, q_interval = mean_over_clusters(factors, sources, confidence)
    growth, growth_interval = mean_over_clusters(exponents, sources, confidence)
    low, high = growth_interval or (math.inf, -math.inf)
    fixed_rmse, fixed_interval = mean_over_clusters(fixed, sources, confidence)
    whole = shape([mean_over_clusters(column(mse, place), sources, confidence)[0] for place in range(len(at))], at)
    return {
        "q": q,
        "q_interval": q_interval,
        "q_chains": sum(value is not None for value in factors),
        "growth_exponent": growth,
        "growth_interval": growth_interval,
        "growth_chains": sum(value is not None for value in exponents),
        "growth": [name for name, power in _GROWTHS.items() if low <= power <= high],
        "fixed_point_rmse": fixed_rmse,
        "fixed_point_interval": fixed_interval,
        "fixed_point_chains": sum(value is not None for value in fixed),
        "shape": whole["shape"],
        "shape_weights": whole["weights"],
        "shape_reason": whole["reason"],
        "shapes": dict(Counter(value["shape"] for value in shapes if value["shape"])),
        "per_chain": [
            {
                "q": factors[place],
                "growth_exponent": exponents[place],
                "fixed_point_rmse": fixed[place],
                "shape": shapes[place]["shape"],
                "reached": reached(steps[place]) if steps is not None else None,
            }
            for place in range(len(mse))
        ],
        "signature": f"q=log-linear|exponent=log-log|shape=AICc|rounds={at[0]}-{at[-1]}|confidence={confidence}",
    }


def column(mse: Sequence[Series], place: int) -> list[float | None]:
    """The values of all chains in one round."""
    values = [series[place] if place < len(series) else None for series in mse]
    return [value if value is not None and measured([value], [1])[1].size else None for value in values]


def reached(steps: Series) -> int | None:
    """The round after which returns no longer change: a fixed point, reached exactly."""
    at, distances = measured(steps, range(1, len(steps) + 1))
    moving = at[distances > 0]
    if not len(at) or (len(moving) and moving[-1] == at[-1]):
        return None
    return int(moving[-1]) if len(moving) else 0


def _checked(
    mse: Sequence[Series],
    steps: Sequence[Series] | None,
    rounds: Sequence[int] | None,
    clusters: Sequence[Hashable] | None,
    confidence: float,
) -> list[int]:
    """Check all arguments and return the rounds of the curves."""
    at = checked_rounds(mse, rounds)
    if not any(map(len, mse)):
        raise ValueError("no curves were given; contraction needs at least one list with a value")
    check_series("list of steps", steps or [])
    check_counts("lists of steps", steps, len(mse))
    check_counts("clusters", clusters, len(mse))
    check_confidence(confidence)
    negative = [value for values in (*mse, *(steps or [])) for value in values if value is not None and value < 0]
    if negative:
        raise ValueError(f"distances must not be negative, got {negative[0]:g}")
    return at


class Contraction(modules.Module):
    """Banach's framing of convergence: an editor that steers well is a contraction. Gives the factor q by which a round
    scales the distance between consecutive returns, the exponent with which MSE grows over rounds (0 jitter, 1
    random walk, 2 drift), which q cannot tell apart, the shape of the curve, and the distance at which the chain
    comes to rest."""

    function = staticmethod(contraction)
    example: ClassVar = {"predictions": [[25.0, 56.25, 76.5625, 87.890625]], "steps": [[5.0, 2.5, 1.25, 0.625]]}
