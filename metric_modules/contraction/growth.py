"""Fits to distances over rounds: the factor q, the exponent of MSE, the fixed point's distance, the curve's shape."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np

Series = Sequence[float | None]  # one value for each round, None if it was not measured
_HALF_WAY = 0.5
_MIN_ROUNDS = 10  # shorter curves do not tell shapes apart
_MIN_POINTS = 6  # the criterion's correction needs more points than parameters
_SHAPES = ("linear", "exponential", "plateau", "power")


def measured(values: Series, rounds: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    pairs = [(n, v) for n, v in zip(rounds, values, strict=False) if v is not None and np.isfinite(v)]
    return np.array([n for n, _ in pairs], float), np.array([v for _, v in pairs], float)


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    centred = x - x.mean()
    return float((centred * (y - y.mean())).sum() / (centred**2).sum())


def factor(steps: Series) -> float | None:
    """q, the factor by which a round scales the distance between consecutive returns, from a log-linear fit.

    Below 1 the chain contracts. A return equal to the one before, a fixed point, ends the
    fit; q is 0 if only one distance precedes it, and None with fewer than two distances.
    """
    at, distances = measured(steps, count())
    if len(distances) < 2 or distances[0] == 0:
        return None
    zeros = np.flatnonzero(distances == 0)
    end = int(zeros[0]) if zeros.size else len(distances)
    return 0.0 if end == 1 else float(np.exp(_slope(at[:end], np.log(distances[:end]))))


def exponent(mse: Series, rounds: Sequence[int]) -> float | None:
    """The power of n with which MSE grows: 0 jitter around one picture, 1 random walk, 2 drift in one direction.

    None with fewer than three rounds in which anything changed.
    """
    at, values = measured(mse, rounds)
    at, values = at[values > 0], values[values > 0]
    return _slope(np.log(at), np.log(values)) if len(values) >= 3 else None


def fixed_point_distance(mse: Series, rounds: Sequence[int], q: float | None) -> float | None:
    """How far from the reference, in RMSE, the chain comes to rest if it keeps contracting by q.

    A contraction towards a fixed point at distance R has gone (1 - q^n) R
    after n rounds; R is fitted by least squares. None if the chain has gone
    less than half of the way, because the estimate would be too uncertain.
    """
    at, values = measured(mse, rounds)
    if q is None or not len(values) or q ** at[-1] > _HALF_WAY:
        return None
    progress = 1 - q**at
    return float((np.sqrt(values) * progress).sum() / (progress**2).sum())


def _families(rounds: np.ndarray) -> list[tuple[str, int, np.ndarray]]:
    """Each family of curves: its name, its number of parameters, and its candidate bases, one per row.

    All start from a jump j, the cost of passing through the editor once: linear j + b n,
    exponential j + b e^(cn), plateau j + b (1 - e^(-cn)) or simply j, power j + b n^c.
    """
    rates = np.geomspace(0.02, 3, 300)[:, None] * 10 / max(rounds[-1], 10)
    exponents = np.concatenate([np.geomspace(0.1, 0.9, 150), np.geomspace(1.1, 6, 150)])[:, None]
    return [
        ("plateau", 1, np.zeros((1, len(rounds)))),
        ("linear", 2, rounds[None, :]),
        ("exponential", 3, np.expm1(rates * rounds)),
        ("plateau", 3, -np.expm1(-rates * rounds)),
        ("power", 3, rounds**exponents),
    ]


def _residual(values: np.ndarray, bases: np.ndarray) -> float:
    y, x = values - values.mean(), bases - bases.mean(axis=1, keepdims=True)
    along, squares = x @ y, (x**2).sum(axis=1)
    return float((y @ y - np.divide(along**2, squares, out=np.zeros(len(squares)), where=squares > 0)).min())


def shape(values: Series, rounds: Sequence[int]) -> dict[str, Any]:
    """The best shape and the weight of each (they add up to 1); null with a reason below 10 rounds or 6 points.

    Reference: Hurvich and Tsai, Regression and time series
    model selection in small samples, Biometrika 76 (1989).

    >>> shape([0.1 + 0.02 * n for n in range(1, 13)], range(1, 13))["shape"]
    'linear'
    """
    at, curve = measured(values, rounds)
    size, last = len(curve), int(at[-1]) if len(at) else 0
    if size < _MIN_POINTS or last < _MIN_ROUNDS:
        reason = f"{size} values up to round {last}; a shape needs {_MIN_POINTS} values and {_MIN_ROUNDS} rounds"
        return {"shape": None, "weights": None, "reason": reason}
    smallest = max(float(((curve - curve.mean()) ** 2).sum()) * 1e-10, 1e-30)  # a perfect fit has no logarithm
    criterion = dict.fromkeys(_SHAPES, np.inf)
    for name, fitted, bases in _families(at):
        parameters = fitted + 1  # the other is the variance
        penalty = 2 * parameters + 2 * parameters * (parameters + 1) / (size - parameters - 1)
        residual = max(_residual(curve, bases), smallest)
        criterion[name] = min(criterion[name], size * np.log(residual / size) + penalty)
    scores = np.array(list(criterion.values()))
    weights = np.exp(-(scores - scores.min()) / 2)
    shares = dict(zip(_SHAPES, (weights / weights.sum()).tolist(), strict=True))
    return {"shape": _SHAPES[int(scores.argmin())], "weights": shares, "reason": None}
