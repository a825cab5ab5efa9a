"""Contraction: q, growth, shape and fixed point of chains made in a space where the truth is known."""

import math

import numpy as np
import pytest
from convergebench.metric_modules.contraction.contraction import contraction
from convergebench.metric_modules.contraction.growth import exponent, factor, fixed_point_distance, shape

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
    without_steps = contraction(chains(kind)[0])
    assert (without_steps["q"], without_steps["growth_exponent"]) == (None, result["growth_exponent"])


def test_a_contraction_has_its_factor_and_fixed_point():
    mse, steps = chains("contraction")
    result = contraction(mse, steps)
    assert result["q"] == pytest.approx(0.6, abs=1e-6)
    assert result["fixed_point_rmse"] == pytest.approx(1, abs=0.05)
    assert result["shape"] == "plateau"
    assert result["fixed_point_interval"][0] < 1 < result["fixed_point_interval"][1]
    at_rest = contraction([[9.0] * 3], [[3.0, 0.0, 0.0]])
    assert (at_rest["q"], at_rest["fixed_point_rmse"], at_rest["per_chain"][0]["reached"]) == (0.0, 3.0, 1)
    unmoved = contraction([[0.0] * 12], [[0.0] * 12])
    assert (unmoved["q"], unmoved["growth"], unmoved["per_chain"][0]["reached"]) == (None, [], 0)
    uneven = contraction([[1.0, 1.0, 1.0]] * 9 + [[1.0, 4.0, 9.0]], clusters=["a"] * 9 + ["b"])
    assert uneven["growth_exponent"] == pytest.approx(1), "sources count alike"


def test_missing_values_are_skipped_and_never_zero():
    assert exponent([1.0, None, 9.0, math.nan, 25.0], [1, 2, 3, 4, 5]) == pytest.approx(2)
    assert factor([8.0, None, 2.0]) == pytest.approx(0.5)
    assert fixed_point_distance([None, 9.0], [1, 2], 0.0) == 3.0
    assert [fixed_point_distance([1.0], [1], q) for q in (0.5, 0.51)] == [2.0, None]  # half of the way, and less
    assert exponent([0.0, 4.0, 9.0, 16.0], range(1, 5)) == pytest.approx(2)
    assert exponent([1.0, 4.0], [1, 2]) is None


CURVES = {
    "linear": 0.05 + 0.02 * ROUNDS,
    "exponential": 0.02 + 0.01 * np.exp(0.25 * ROUNDS),
    "plateau": 0.05 + 0.4 * (1 - np.exp(-0.35 * ROUNDS)),
    "power": 0.01 * ROUNDS**2.0,
}


def test_a_chain_without_a_value_leaves_the_others():
    assert contraction([[25.0, 56.25, 76.5625], []])["growth_chains"] == 1


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("falling", [False, True], ids=["rising", "falling"])
def test_the_shape_of_a_curve_is_found_in_noise(name, falling):
    rng = np.random.default_rng(8)
    curve = 1 - CURVES[name] if falling else CURVES[name]
    found = [shape(curve + rng.normal(0, 0.005, 20), ROUNDS)["shape"] for _ in range(30)]
    assert found.count(name) >= 25


def test_short_curves_have_no_shape_but_a_reason():
    assert shape([0.1] * 9, range(1, 10))["shape"] is None
    assert shape([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [1, 2, 3, 5, 10, 15, 20])["shape"] is not None
    assert shape([None] * 20, ROUNDS)["reason"].startswith("0 values up to round 0;")
    assert shape([0.2] * 12, range(1, 13))["shape"] == "plateau"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mse": []}, "no curves were given"),
        ({"mse": [[]]}, "no curves were given"),
        ({"steps": [[1.0]]}, "got 1 lists of steps for 2 curves"),
        ({"clusters": ["a"]}, "got 1 clusters"),
        ({"rounds": [1]}, "for a curve of 3 values"),
        ({"rounds": [1, 3, 2]}, "rounds must be"),
        ({"mse": [[1.0, -1.0]] * 2}, "must not be negative, got -1"),
        ({"mse": [1.0, 2.0]}, "curve 1 must be a list"),
        ({"steps": [[1.0], ["a"]]}, "list of steps 2 must be"),
    ],
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        contraction(**({"mse": [[1.0, 2.0, 3.0]] * 2} | options))
