"""Survival curves agree with scipy, and intervals of chains with a known truth hold it as often as they say."""

import numpy as np
from convergebench.metric_modules.halflife.outcomes import curve_outcome
from convergebench.metric_modules.halflife.survival import _survival, kaplan_meier, summarise
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
    assert _survival(np.array([1, 0]), np.array([2, 0])).tolist() == [0.5, 0.5]  # nobody is left to be lost


def test_median_intervals_cover_the_truth_in_a_hundred_sets():
    """Chains decay as 2^(-n / h), h log-normal between 12 sources and within them."""
    rng, past_the_end = np.random.default_rng(7), ROUNDS[-1] + 1
    sources, rows = np.repeat(np.arange(12), 5), []
    for number in range(100):
        half = HALVES[number % len(HALVES)]
        effect = rng.normal(0, 1, 12)[sources] + rng.normal(0, 0.3, 60)
        curves = 2.0 ** (-np.array(ROUNDS) / (half * np.exp(effect))[:, None])
        result = summarise([curve_outcome(curve, ROUNDS) for curve in curves.tolist()], ROUNDS, sources.tolist())
        low, high = (past_the_end if limit is None else limit for limit in result["half_life_interval"])
        found = result["half_life"] or past_the_end
        rows.append((low <= np.ceil(half) <= high, found / np.ceil(half) - 1))
    covered, bias = np.mean(rows, axis=0)
    assert covered >= 0.925
    assert abs(bias) < 0.15
