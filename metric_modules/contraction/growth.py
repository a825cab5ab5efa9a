"""Fits to distances over rounds: the factor q, the exponent of MSE, the distance of the fixed point."""

from collections.abc import Sequence

import numpy as np

Series = Sequence[float | None]

_HALF_WAY = 0.5


def measured(values: Series, rounds: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The rounds that have a value, and their values."""
    pairs = [(n, v) for n, v in zip(rounds, values, strict=False) if v is not None and np.isfinite(v)]
    return np.array([n for n, _ in pairs], float), np.array([v for _, v in pairs], float)


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    centred = x - x.mean()
    return float((centred * (y - y.mean())).sum() / (centred**2).sum())


def factor(steps: Series) -> float | None:
    """q, the factor by which a round scales the distance between consecutive returns, from a log-linear fit.

    Below 1 the chain contracts. A return equal to the one before ends the fit: from the second one on it means that a
    fixed point was reached, and q is 0 if only one distance precedes it. None with fewer than two distances.

    >>> round(factor([8.0, 4.0, 2.0, 1.0]), 3)
    0.5
    """
    at, distances = measured(steps, range(1, len(steps) + 1))
    if len(distances) < 2 or distances[0] == 0:
        return None
    zeros = np.flatnonzero(distances == 0)
    end = int(zeros[0]) if zeros.size else len(distances)
    return 0.0 if end == 1 else float(np.exp(_slope(at[:end], np.log(distances[:end]))))


def exponent(mse: Series, rounds: Sequence[int]) -> float | None:
    """The power of n with which MSE grows: 0 jitter around one picture, 1 random walk, 2 drift in one direction.

    None with fewer than three rounds in which anything changed.

    >>> round(exponent([2.0, 8.0, 18.0, 32.0], [1, 2, 3, 4]), 3)
    2.0
    """
    at, values = measured(mse, rounds)
    at, values = at[values > 0], values[values > 0]
    return _slope(np.log(at), np.log(values)) if len(values) >= 3 else None


def fixed_point_distance(mse: Series, rounds: Sequence[int], q: float | None) -> float | None:
    """How far from the reference, in RMSE, the chain comes to rest if it goes on contracting by q.

    A contraction towards a fixed point at distance R has gone (1 - q^n) R after n rounds; R by least squares.
    None if the chain has gone less than half of the way, because the estimate would be too uncertain.

    >>> round(fixed_point_distance([25.0, 56.25, 76.5625], [1, 2, 3], 0.5), 3)
    10.0
    """
    at, values = measured(mse, rounds)
    if q is None or not len(values) or q ** at[-1] > _HALF_WAY:
        return None
    progress = 1 - q**at
    return float((np.sqrt(values) * progress).sum() / (progress**2).sum())
