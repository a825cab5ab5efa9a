"""Does an editor contract? The factor between rounds, the growth of the error, its shape, and the fixed point."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np
from convergebench.metric_modules._shared import modules
from convergebench.metric_modules._shared.series import (
    Series,
    check_confidence,
    check_counts,
    check_series,
    checked_rounds,
)
from convergebench.metric_modules.contraction.growth import exponent, factor, fixed_point_distance, measured
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
    at = checked_rounds(mse, rounds)
    if not any(map(len, mse)):
        raise ValueError("no curves were given; contraction needs at least one list with a value")
    moves = check_counts("lists of steps", steps, len(mse))
    check_series("list of steps", moves)
    sources = check_counts("clusters", clusters, len(mse)) or list(range(len(mse)))
    check_confidence(confidence)
    if negative := [value for values in (*mse, *moves) for value in values if value is not None and value < 0]:
        raise ValueError(f"distances must not be negative, got {negative[0]:g}")
    result: dict[str, object] = {}
    per_chain: list[dict[str, object]] = [{} for _ in mse]

    def add(name: str, interval_name: str, values: list[float | None]) -> list[float] | None:
        """The mean over sources with its interval, and the values of the chains."""
        mean, interval = mean_over_clusters(values, sources, confidence)
        chains = sum(value is not None for value in values)
        result.update({name: mean, f"{interval_name}_interval": interval, f"{interval_name}_chains": chains})
        for entry, value in zip(per_chain, values, strict=True):
            entry[name] = value
        return interval

    factors = [factor(values) for values in moves] or [None] * len(mse)
    add("q", "q", factors)
    low, high = add("growth_exponent", "growth", [exponent(values, at) for values in mse]) or (np.inf, -np.inf)
    result["growth"] = [name for name, power in _GROWTHS.items() if low <= power <= high]
    fixed = [fixed_point_distance(values, at, q) for values, q in zip(mse, factors, strict=True)]
    add("fixed_point_rmse", "fixed_point", fixed)
    for number, (entry, values) in enumerate(zip(per_chain, mse, strict=True)):
        entry |= {"shape": shape(values, at)["shape"], "reached": _reached(moves[number]) if moves else None}
    table = np.full((len(mse), len(at)), np.nan)
    for row, values in zip(table, mse, strict=True):
        row[: len(values)] = [np.nan if value is None else value for value in values]
    columns = [[float(value) if np.isfinite(value) else None for value in column] for column in table.T]
    mean_curve = [mean_over_clusters(column, sources, confidence)[0] for column in columns]
    whole = shape(mean_curve, at)
    return result | {
        "shape": whole["shape"],
        "shape_weights": whole["weights"],
        "shape_reason": whole["reason"],
        "shapes": dict(Counter(entry["shape"] for entry in per_chain if entry["shape"])),
        "per_chain": per_chain,
        "signature": f"q=log-linear|exponent=log-log|shape=AICc|rounds={at[0]}-{at[-1]}|confidence={confidence}",
    }


def _reached(steps: Series) -> int | None:
    """The round after which returns no longer change: a fixed point, reached exactly."""
    at, distances = measured(steps, range(1, len(steps) + 1))
    moving = at[distances > 0]
    if not len(at) or (len(moving) and moving[-1] == at[-1]):
        return None
    return int(moving[-1]) if len(moving) else 0


class Contraction(modules.Module):
    """Banach's framing of convergence: an editor that steers well is a contraction. Gives the factor q by which a round
    scales the distance between consecutive returns, the exponent with which MSE grows over rounds (0 jitter, 1
    random walk, 2 drift), which q cannot tell apart, the shape of the curve, and the distance at which the chain
    comes to rest."""

    function = staticmethod(contraction)
    example: ClassVar = {"predictions": [[25.0, 56.25, 76.5625, 87.890625]], "steps": [[5.0, 2.5, 1.25, 0.625]]}
