"""Does an editor contract? The factor between rounds, how the error grows, its shape, and where it comes to rest."""

from collections import Counter
from collections.abc import Hashable, Sequence
from numbers import Real
from typing import Any

from convergebench.metric_modules._shared import modules
from convergebench.metric_modules.contraction.growth import (
    exponent,
    factor,
    fixed_point_distance,
    mean_over_clusters,
    measured,
)
from convergebench.metric_modules.contraction.shape import shape

GROWTHS = {"jitter": 0.0, "random walk": 1.0, "drift": 2.0}


def contraction(
    mse: Sequence[Sequence[float | None]],
    steps: Sequence[Sequence[float | None]] | None = None,
    rounds: Sequence[int] | None = None,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Factor, growth, shape and fixed point of chains from their distances. Range: q and exponents from 0 up.

    >>> round(contraction([[25.0, 56.25, 76.5625]], [[5.0, 2.5, 1.25]])["q"], 6)
    0.5
    """
    at = check(mse, steps, rounds, clusters, confidence)
    sources = list(range(len(mse))) if clusters is None else list(clusters)
    factors = [factor(own) for own in steps] if steps is not None else [None] * len(mse)
    exponents = [exponent(own, at) for own in mse]
    fixed = [fixed_point_distance(own, at, q) for own, q in zip(mse, factors, strict=True)]
    shapes = [shape(own, at) for own in mse]
    q, q_interval = mean_over_clusters(factors, sources, confidence)
    growth, growth_interval = mean_over_clusters(exponents, sources, confidence)
    rest, rest_interval = mean_over_clusters(fixed, sources, confidence)
    whole = shape([mean_over_clusters(column(mse, place), sources, confidence)[0] for place in range(len(at))], at)
    return {
        "q": q,
        "q_interval": q_interval,
        "q_chains": sum(each is not None for each in factors),
        "growth_exponent": growth,
        "growth_interval": growth_interval,
        "growth_chains": sum(each is not None for each in exponents),
        "growth": [name for name, power in GROWTHS.items() if growth_interval and allows(growth_interval, power)],
        "fixed_point_rmse": rest,
        "fixed_point_interval": rest_interval,
        "fixed_point_chains": sum(each is not None for each in fixed),
        "shape": whole["shape"],
        "shape_weights": whole["weights"],
        "shape_reason": whole["reason"],
        "shapes": dict(Counter(each["shape"] for each in shapes if each["shape"])),
        "per_chain": [
            {"q": factors[place], "growth_exponent": exponents[place], "fixed_point_rmse": fixed[place]}
            | {"shape": shapes[place]["shape"], "reached": reached(steps[place]) if steps is not None else None}
            for place in range(len(mse))
        ],
        "signature": f"q=log-linear|exponent=log-log|shape=AICc|rounds={at[0]}-{at[-1]}|confidence={confidence}",
    }


def column(mse: Sequence[Sequence[float | None]], place: int) -> list[float | None]:
    """The values of all chains in one round."""
    values = [own[place] if place < len(own) else None for own in mse]
    return [value if value is not None and measured([value], [1])[1].size else None for value in values]


def allows(interval: list[float], power: float) -> bool:
    return interval[0] <= power <= interval[1]


def reached(steps: Sequence[float | None]) -> int | None:
    """The round after which returns no longer change: a fixed point, reached exactly."""
    at, distances = measured(steps, range(1, len(steps) + 1))
    moving = at[distances > 0]
    if not len(at) or (len(moving) and moving[-1] == at[-1]):
        return None
    return int(moving[-1]) if len(moving) else 0


def check(
    mse: Sequence[Sequence[float | None]],
    steps: Sequence[Sequence[float | None]] | None,
    rounds: Sequence[int] | None,
    clusters: Sequence[Hashable] | None,
    confidence: float,
) -> list[int]:
    """The rounds of the curves; every refusal is one sentence."""
    for name, lists in (("curve", mse), ("list of steps", steps or [])):
        for number, own in enumerate(lists, 1):
            if not (hasattr(own, "__len__") and all(value is None or isinstance(value, Real) for value in own)):
                raise ValueError(f"{name} {number} is {own!r}; it is a list of numbers, with None for a missing one")
    longest = max((len(own) for own in mse), default=0)
    if not longest:
        raise ValueError("no curves were given; contraction needs at least one list with a value")
    at = list(range(1, longest + 1)) if rounds is None else [int(each) for each in rounds]
    if sorted(set(at)) != at or at[0] < 1 or longest > len(at):
        raise ValueError(
            f"rounds are {at} for curves of up to {longest} values; they rise from 1 on, one for each value"
        )
    for name, given in (("lists of steps", steps), ("clusters", clusters)):
        if given is not None and len(given) != len(mse):
            raise ValueError(f"{len(given)} {name} were given for {len(mse)} curves; there is one per curve")
    for number, own in enumerate([*mse, *(steps or [])]):
        low = [value for value in own if value is not None and value < 0]
        if low:
            raise ValueError(f"list {number % len(mse) + 1} holds {low[0]:g}, and distances are not negative")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it lies between 0 and 1, such as 0.95")
    return at


class Contraction(modules.Statistic):
    """Banach's framing of convergence: an editor that steers well is a contraction. Gives the factor q by which a round
    scales the distance between consecutive returns, the exponent with which MSE grows over rounds (0 jitter, 1
    random walk, 2 drift), which q cannot tell apart, the shape of the curve, and the distance at which the chain
    comes to rest."""

    function = staticmethod(contraction)
    cited = """
@article{banach1922, author={Banach, Stefan}, journal={Fundamenta Mathematicae},
title={Sur les operations dans les ensembles abstraits et leur application aux equations integrales}, volume={3},
year={1922}}
"""
    arguments = """
Args:
    predictions: one list per chain, the MSE (or squared distance) of every return against the reference.
    steps: one list per chain, the distance (RMSE, not squared) of every return to the one before, the first to the
        reference; consecutive rounds. Without it q and the fixed point are null.
    rounds: the rounds the values of `predictions` belong to; 1, 2, 3, ... when left out.
    clusters: the source of each chain; each counts by its own mean.
    confidence: of the intervals.
Returns: q, growth_exponent and fixed_point_rmse, each with its interval and the number of chains that have it; growth
    (which of jitter, random walk, drift the interval allows), shape of the mean curve with its weights, shapes of the
    chains, per_chain, signature.
"""
