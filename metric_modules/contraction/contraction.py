"""Banach's framing of convergence: an editor that steers well is a contraction. Gives the factor q by which a round
scales the distance between consecutive returns, the exponent with which MSE grows over rounds (0 jitter, 1
random walk, 2 drift), which q cannot tell apart, the shape of the curve, and the distance at which the chain
comes to rest."""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import count

import numpy as np
from convergebench.metric_modules._evaluate import modules
from convergebench.metric_modules._evaluate.modules import Series, check_counts, check_series, checked_rounds
from convergebench.metric_modules.contraction.growth import (
    exponent,
    factor,
    fixed_point_distance,
    measured,
    shape,
)
from convergebench.metric_modules.halflife.intervals import CONFIDENCE, mean_over_clusters

_GROWTHS = {"jitter": 0.0, "random walk": 1.0, "drift": 2.0}


def contraction(
    mse: Sequence[Series],
    steps: Sequence[Series] | None = None,
    rounds: Sequence[int] | None = None,
    clusters: Sequence[Hashable] | None = None,
) -> dict[str, object]:
    """Factor, growth, shape and fixed point of chains from their distances. Range: q and exponents from 0 up.

    >>> round(contraction([[25.0, 56.25, 76.5625]], [[5.0, 2.5, 1.25]])["q"], 6)
    0.5
    """
    at, moves = checked_rounds(mse, rounds), check_counts("lists of steps", steps, len(mse))
    check_series("list of steps", moves)
    sources = check_counts("clusters", clusters, len(mse)) or list(range(len(mse)))
    _check_distances([value for values in (*mse, *moves) for value in values], any(map(len, mse)))
    q = [factor(values) for values in moves] or [None] * len(mse)
    chains = {
        "q": q,
        "growth_exponent": [exponent(values, at) for values in mse],
        "fixed_point_rmse": [fixed_point_distance(values, at, rate) for values, rate in zip(mse, q, strict=True)],
    }
    result: dict[str, object] = {}
    low, high = np.inf, -np.inf
    for name, values in chains.items():
        mean, interval = mean_over_clusters(values, sources)
        start = name.removesuffix("_exponent").removesuffix("_rmse")
        count = sum(value is not None for value in values)
        low, high = interval if name == "growth_exponent" and interval else (low, high)
        result |= {name: mean, f"{start}_interval": interval, f"{start}_chains": count}
    shapes = [shape(values, at)["shape"] for values in mse]
    reached = [_reached(values) for values in moves] or [None] * len(mse)
    columns = zip(*(_padded(values, len(at)) for values in mse), strict=True)
    whole = shape([mean_over_clusters(column, sources)[0] for column in columns], at)
    return result | {
        "growth": [name for name, power in _GROWTHS.items() if low <= power <= high],
        "shape": whole["shape"],
        "shape_weights": whole["weights"],
        "shape_reason": whole["reason"],
        "shapes": dict(Counter(filter(None, shapes))),
        "per_chain": [
            dict(zip((*chains, "shape", "reached"), row, strict=True))
            for row in zip(*chains.values(), shapes, reached, strict=True)
        ],
        "signature": f"q=log-linear|exponent=log-log|shape=AICc|rounds={at[0]}-{at[-1]}|confidence={CONFIDENCE}",
    }


def _check_distances(values: list[float | None], has_values: bool) -> None:
    if not has_values:
        raise ValueError("no curves were given; contraction needs at least one list with a value")
    negative = [value for value in values if value is not None and value < 0]
    if negative:
        raise ValueError(f"distances must not be negative, got {negative[0]:g}")


def _padded(values: Series, length: int) -> list[float | None]:
    finite = [value if value is not None and np.isfinite(value) else None for value in values]
    return finite + [None] * (length - len(finite))


def _reached(steps: Series) -> int | None:
    at, distances = measured(steps, count(1))
    moving = at[distances > 0]
    if not len(at) or (len(moving) and moving[-1] == at[-1]):
        return None
    return int(moving[-1]) if len(moving) else 0


Contraction = modules.Module.of(
    __name__,
    __doc__,
    contraction,
    example={"predictions": [[25.0, 56.25, 76.5625, 87.890625]], "steps": [[5.0, 2.5, 1.25, 0.625]]},
)
