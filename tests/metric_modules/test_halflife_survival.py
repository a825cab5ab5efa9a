"""Survival curves agree with scipy."""

import numpy as np
import pytest
from convergebench.metric_modules.halflife.intervals import drawn_clusters, membership
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import (
    _area,
    _median,
    _pseudo_values,
    _survival,
    cumulative_incidence,
    kaplan_meier,
    summarise,
)
from scipy import stats


def random_sample(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Rounds with ties, some of them censored."""
    return rng.integers(1, 15, size).astype(float), rng.random(size) < rng.uniform(0.3, 1)


def test_kaplan_meier_agrees_with_scipy_on_200_random_samples():
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(200):
        times, lost = random_sample(rng, int(rng.integers(2, 80)))
        grid, alive = kaplan_meier(times, lost)
        theirs = stats.ecdf(stats.CensoredData(times[lost], right=times[~lost])).sf
        np.testing.assert_allclose(alive, theirs.evaluate(grid), atol=1e-12)
        compared += len(grid)
    assert compared > 1000


def test_incidence_adds_up_and_is_a_plain_share():
    rng = np.random.default_rng(13)
    for _ in range(50):
        times = rng.integers(1, 10, 40)
        names = ("quality lost", "part lost", "refused", None)
        causes = [names[place] for place in rng.integers(0, 4, 40)]
        grid, incidence = cumulative_incidence(times, causes)
        _, alive = kaplan_meier(times, [cause is not None for cause in causes])
        np.testing.assert_allclose(sum(incidence.values()) + alive, 1, atol=1e-12)
        assert len(grid) == len(alive)
        assert all((np.diff(share) >= 0).all() for share in incidence.values())
    _, incidence = cumulative_incidence([1, 2, 2, 3], ["a", "a", "b", "b"])
    assert incidence["a"].tolist() == [0.25, 0.5, 0.5]
    assert incidence["b"].tolist() == [0.0, 0.25, 0.5]


def test_pseudo_values_average_to_the_area_even_with_failures():
    rng = np.random.default_rng(14)
    for _ in range(30):
        times, lost = random_sample(rng, 40)
        grid, alive = kaplan_meier(times, lost)
        horizon = times.max()
        jackknife = _pseudo_values(times, lost, horizon)
        assert jackknife.mean() == pytest.approx(float(_area(grid, alive, horizon)), abs=0.05)
    everyone = _pseudo_values([3, 8, 20], [True, True, False], 20)
    assert everyone.tolist() == [3, 8, 20]


def test_the_median_is_the_first_time_at_half():
    grid, alive = kaplan_meier([1, 2, 3, 4], [True] * 4)
    assert _median(grid, alive) == 2
    assert np.isinf(_median(*kaplan_meier([1, 5, 5], [True, False, False])))
    assert np.isinf(_median(*kaplan_meier([5, 5], [False, False])))
    assert _survival(np.array([1, 0]), np.array([2, 0])).tolist() == [0.5, 0.5]  # nobody is left to be lost


def test_the_lower_limit_of_chains_lost_at_once_is_their_mean():
    """The rounds kept, of chains that are all lost in round 1: nobody keeps more than none."""
    summary = summarise([Outcome(0, 1, "not changed")] * 6, [1, 2, 3], [*"aabbcc"], [*"pqpqpq"])
    for limits in ("mean_rounds_kept_interval", "mean_rounds_kept_interval_two_way"):
        assert summary["mean_rounds_kept"] == summary[limits][0] == 0
    assert summarise([Outcome(0, 1)] * 3, range(1, 11))["half_life_text"] == "1"


def test_two_thousand_draws_of_whole_clusters():
    assert membership(["a", "b", "a"]).tolist() == [[1, 0, 1], [0, 1, 0]]
    assert drawn_clusters(3).shape == (2000, 3)
    assert set(drawn_clusters(3).sum(axis=1)) == {3.0}
