"""Survival curves agree with scipy, and intervals of chains with a known truth hold it as often as they say."""

import numpy as np
import pytest
from convergebench.metric_modules.halflife.intervals import _clustered, _variance, mean_interval
from convergebench.metric_modules.halflife.outcomes import Outcome, curve_outcome
from convergebench.metric_modules.halflife.survival import (
    _median,
    _survival,
    cumulative_incidence,
    kaplan_meier,
    summarise,
)
from scipy import stats

ROUNDS = list(range(1, 21))
HALVES = (6.7, 9.3, 12.9)  # the median half-life, in rounds, that is to be found again


def test_kaplan_meier_agrees_with_scipy_on_200_random_samples():
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(200):
        size = int(rng.integers(2, 80))  # rounds with ties, some of them censored
        times, lost = rng.integers(1, 15, size).astype(float), rng.random(size) < rng.uniform(0.3, 1)
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


@pytest.mark.parametrize(("clusters", "chains", "between"), [(40, 1, 0.0), (12, 5, 1.0)])
def test_median_intervals_cover_the_truth_in_a_hundred_sets(clusters, chains, between):
    """Chains decay as 2^(-n / h), h log-normal between sources and within them."""
    rng, past_the_end = np.random.default_rng(7), ROUNDS[-1] + 1
    sources, rows = np.repeat(np.arange(clusters), chains), []
    for number in range(100):
        half = HALVES[number % len(HALVES)]
        effect = rng.normal(0, between, clusters)[sources] + rng.normal(0, 0.3 if between else 0.5, len(sources))
        curves = 2.0 ** (-np.array(ROUNDS) / (half * np.exp(effect))[:, None])
        result = summarise([curve_outcome(curve, ROUNDS) for curve in curves.tolist()], ROUNDS, sources.tolist())
        low, high = (past_the_end if limit is None else limit for limit in result["half_life_interval"])
        found = result["half_life"] or past_the_end
        rows.append((low <= np.ceil(half) <= high, found / np.ceil(half) - 1))
    covered, bias = np.mean(rows, axis=0)
    assert covered >= 0.925
    assert abs(bias) < 0.15


def test_programs_and_unequal_sources_widen_the_limits():
    rng = np.random.default_rng(7)
    values = np.clip(10 + rng.normal(0, 2, (12, 1)) + rng.normal(0, 3, (1, 6)) + rng.normal(0, 1, (12, 6)), 0, 20)
    sources, programs = np.repeat(range(12), 6).tolist(), np.tile(range(6), 12).tolist()
    spread, free = _variance(values.ravel(), sources)
    assert (spread, free) == (pytest.approx(values.mean(axis=1).var(ddof=1) / 12), 11)
    one = mean_interval(values.ravel(), sources, 20)
    two = mean_interval(values.ravel(), sources, 20, programs)
    assert two[0] < one[0] < values.mean() < one[1] < two[1]
    values, sources = np.array([*[4.0, 6.0] * 5, 3.0, 8.0, 5.0]), [*"aaaaaaaaaa", *"bcd"]
    assert _clustered(values, sources)[1] == pytest.approx(13**2 / 103)
    assert _variance(values, sources)[1] == 1.0
    assert _clustered(np.arange(12.0), [*"aaabbbcccddd"])[1] == 4


@pytest.mark.parametrize("value", [0.0, 20.0, 7.3])
def test_intervals_stand_where_nothing_varies(value):
    low, high = mean_interval(np.full(18, value), [*"aabbccddeeffgghhii"], 20)
    assert 0 <= low <= value + 1e-9
    assert value - 1e-9 <= high <= 20
    assert mean_interval(np.full(3, value), ["a"] * 3, 20) is None
    assert mean_interval([0.1, 0.2, 0.3], "abc", 20)[1] < 1
