"""Retained quality: 1 is untouched, 0 is another picture, and floors belong to references."""

import math

import pytest
from convergebench.metric_modules.retained.floors import CEILINGS, floor, resembling, retained_value
from convergebench.metric_modules.retained.retained import retained
from hypothesis import given
from hypothesis import strategies as st

FLOORS = {
    "cat": {"rmse": 80.0, "ssim": 0.2, "lpips": 0.75, "clip": 0.55, "edges": 12.0},
    "street": {"rmse": 40.0, "ssim": 0.1, "lpips": 0.70, "clip": 0.50},
}


@pytest.mark.parametrize("metric", CEILINGS)
def test_ceiling_is_one_and_floor_is_zero(metric):
    bottom, top = FLOORS["cat"][metric], CEILINGS[metric]
    result = retained([top, (top + bottom) / 2, bottom], ["cat"] * 3, metric, FLOORS)
    assert result["retained"] == pytest.approx([1, 0.5, 0])


@given(value=st.floats(-1e6, 1e6), worse=st.floats(0, 1e6), bottom=st.floats(1, 1e3))
def test_worse_never_retains_more(value, worse, bottom):
    better, lower = retained_value(value, bottom, 0.0), retained_value(value + worse, bottom, 0.0)
    assert 0 <= lower <= better <= 1


def test_every_reference_has_its_own_floor():
    result = retained([20.0, 20.0], ["cat", "street"], "rmse", FLOORS)
    assert result["retained"] == [0.75, 0.5]
    assert result["mean"] == 0.625


def test_what_lies_beyond_is_clipped_and_counted():
    result = retained([0.9, 0.05, 1.0], ["cat"] * 3, "ssim", FLOORS)
    assert result["retained"][1] == 0.0
    assert result["clipped"] == 1


def test_missing_values_stay_missing():
    result = retained([None, math.nan, 0.0], ["cat"] * 3, "lpips", FLOORS)
    assert result["retained"] == [None, None, 1.0]
    assert (result["mean"], result["measured"]) == (1.0, 1)
    assert retained([None], ["cat"], "lpips", FLOORS)["mean"] is None


def test_any_other_metric_brings_its_ceiling():
    assert retained([3.0], ["cat"], "edges", FLOORS, ceiling=0.0)["retained"] == [0.75]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (([30.0], ["cat"], "psnr", FLOORS), "decibels"),
        (([1.0], ["dog"], "rmse", FLOORS), "no floors for reference 'dog'"),
        (([1.0], ["street"], "edges", FLOORS, 0.0), "no edges floor for reference 'street'; it has rmse, ssim"),
        (([1.0], ["cat"], "edges", FLOORS), "no ceiling is known for 'edges'"),
        (([1.0], ["cat"], "rmse", {"cat": {"rmse": 0.0}}), "a number other than 0, got 0.0"),
        (([1.0], ["cat"], "rmse", {"cat": {"rmse": math.nan}}), "got nan"),
        (([1.0, 2.0], ["cat"], "rmse", FLOORS), "2 values were given with 1 references"),
    ],
)
def test_bad_input_is_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        retained(*given)


def test_a_floor_is_the_median_over_unrelated_pictures():
    assert floor([0.7, 0.9, 0.8, 0.1]) == 0.75
    with pytest.raises(ValueError, match="none were given"):
        floor([])


def test_a_picture_resembles_the_reference_on_every_metric():
    floors = {"rmse": 80.0, "ssim": 0.0, "lpips": 0.8}
    unrelated = {"rmse": [10.0, 80.0, 10.0], "ssim": [0.8, 0.0, 0.8], "lpips": [0.1, 0.8, 0.8]}
    assert resembling(unrelated, floors) == [True, False, False]
    assert resembling({"structure": [0.1, 5.0]}, {"structure": 5.0}, {"structure": 0.0}) == [True, False]


@pytest.mark.parametrize(("metric", "floor", "side"), [("lpips", -0.4, "above 0"), ("ssim", 1.2, "below 1")])
def test_a_floor_on_the_wrong_side_is_refused(metric, floor, side):
    with pytest.raises(ValueError, match=f"the {metric} floor of reference 'cat' must be {side}"):
        retained([0.5], ["cat"], metric, {"cat": {metric: floor}})
