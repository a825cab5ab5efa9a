"""Retained quality: worse never retains more, and which unrelated pictures resemble the reference."""

from convergebench.metric_modules._engine.retained import floor, resembling, retained_value
from hypothesis import given
from hypothesis import strategies as st


@given(value=st.floats(-1e6, 1e6), worse=st.floats(0, 1e6), bottom=st.floats(1, 1e3))
def test_worse_never_retains_more(value, worse, bottom):
    better, lower = retained_value(value, bottom, 0.0), retained_value(value + worse, bottom, 0.0)
    assert 0 <= lower <= better <= 1


def test_a_floor_is_the_median_over_unrelated_pictures():
    assert floor([0.7, 0.9, 0.8, 0.1]) == 0.75


def test_a_picture_resembles_the_reference_on_every_metric():
    floors = {"rmse": 80.0, "ssim": 0.0, "lpips": 0.8}
    unrelated = {"rmse": [10.0, 80.0, 10.0], "ssim": [0.8, 0.0, 0.8], "lpips": [0.1, 0.8, 0.8]}
    assert resembling(unrelated, floors, {"rmse": 0.0, "ssim": 1.0, "lpips": 0.0}) == [True, False, False]
    assert resembling({"structure": [0.1, 5.0]}, {"structure": 5.0}, {"structure": 0.0}) == [True, False]
