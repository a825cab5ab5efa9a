"""Chains with a known truth: how often the intervals hold it, and how far the estimates lie beside it."""

import numpy as np
import pytest
from convergebench.metric_modules.halflife.intervals import _clustered, _variance, mean_interval
from convergebench.metric_modules.halflife.outcomes import curve_outcome
from convergebench.metric_modules.halflife.survival import summarise

ROUNDS = list(range(1, 21))
HALVES = (6.7, 9.3, 12.9)  # the median half-life, in rounds, that is to be found again


@pytest.mark.parametrize(("clusters", "chains", "between"), [(40, 1, 0.0), (12, 5, 0.5), (12, 5, 1.0)])
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
