"""Retained quality: worse never retains more."""

from convergebench.metric_modules._engine.floors import floor, retained_value
from hypothesis import given
from hypothesis import strategies as st


@given(value=st.floats(-1e6, 1e6), worse=st.floats(0, 1e6), bottom=st.floats(1, 1e3))
def test_worse_never_retains_more(value, worse, bottom):
    better, lower = retained_value(value, bottom, 0.0), retained_value(value + worse, bottom, 0.0)
    assert 0 <= lower <= better <= 1


def test_a_floor_is_the_median_over_unrelated_pictures():
    assert floor([0.7, 0.9, 0.8, 0.1]) == 0.75
