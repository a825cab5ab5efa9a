"""Contraction: q, growth, shape and fixed point of chains made in a space where the truth is known."""

import math

import numpy as np
import pytest
from convergebench.metric_modules.contraction.contraction import contraction
from convergebench.metric_modules.contraction.growth import exponent, factor, fixed_point_distance

PIXELS = 400
ROUNDS = np.arange(1, 21)


def chains(kind: str, count: int = 12) -> tuple[list[list[float]], list[list[float]]]:
    """MSE against the start, and RMSE from return to return, of points that move in one way."""
    rng = np.random.default_rng(5)
    every_mse, every_step = [], []
    for _ in range(count):
        start = now = rng.normal(size=PIXELS)
        along, rest = rng.normal(size=PIXELS) * 0.1, start + rng.normal(size=PIXELS)
        mse, steps = [], []
        for _ in ROUNDS:
            noise = rng.normal(size=PIXELS) * 0.1
            after = {
                "jitter": start + noise,
                "random walk": now + noise,
                "drift": now + along,
                "contraction": rest + 0.6 * (now - rest),
            }[kind]
            steps.append(float(np.sqrt(((after - now) ** 2).mean())))
            mse.append(float(((after - start) ** 2).mean()))
            now = after
        every_mse.append(mse)
        every_step.append(steps)
    return every_mse, every_step


@pytest.mark.parametrize("kind", ["jitter", "random walk", "drift"])
def test_growth_tells_apart_what_q_cannot(kind):
    result = contraction(*chains(kind))
    assert result["q"] == pytest.approx(1, abs=0.01)
    assert result["growth"] == [kind]
    assert result["fixed_point_rmse"] is None, "no fixed point is in sight"


def test_a_contraction_has_its_factor_and_fixed_point():
    result = contraction(*chains("contraction"))
    assert result["q"] == pytest.approx(0.6, abs=1e-6)
    assert result["fixed_point_rmse"] == pytest.approx(1, abs=0.05)
    assert result["shape"] == "plateau"
    unmoved = contraction([[0.0] * 12], [[0.0] * 12])
    assert (unmoved["q"], unmoved["growth"], unmoved["per_chain"][0]["reached"]) == (None, [], 0)


def test_missing_values_are_skipped_and_never_zero():
    assert exponent([1.0, None, 9.0, math.nan, 25.0], [1, 2, 3, 4, 5]) == pytest.approx(2)
    assert factor([8.0, None, 2.0]) == pytest.approx(0.5)
    assert fixed_point_distance([None, 9.0], [1, 2], 0.0) == 3.0
    assert [fixed_point_distance([1.0], [1], q) for q in (0.5, 0.51)] == [2.0, None]  # half of the way, and less
    assert exponent([0.0, 4.0, 9.0, 16.0], range(1, 5)) == pytest.approx(2)
    assert exponent([1.0, 4.0], [1, 2]) is None


def test_a_chain_without_a_value_leaves_the_others():
    assert contraction([[25.0, 56.25, 76.5625], []])["growth_chains"] == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mse": []}, "no curves were given"),
        ({"mse": [[]]}, "no curves were given"),
        ({"steps": [[1.0]]}, "got 1 lists of steps for 2 curves"),
        ({"clusters": ["a"]}, "got 1 clusters"),
        ({"rounds": [1]}, "for a curve of 3 values"),
        ({"mse": [[1.0, -1.0]] * 2}, "must not be negative, got -1"),
        ({"steps": [[1.0], ["a"]]}, "list of steps 2 must be"),
    ],
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        contraction(**({"mse": [[1.0, 2.0, 3.0]] * 2} | options))
