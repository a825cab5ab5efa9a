"""Chains with a known truth: how often the intervals hold it, and how far the estimates lie beside it."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from convergebench.metric_modules.halflife.intervals import _clustered, mean_interval, variance
from convergebench.metric_modules.halflife.outcomes import curve_outcome
from convergebench.metric_modules.halflife.survival import summarise
from scipy import stats
from simulations import coverage

ROUNDS = list(range(1, 21))
HALVES = (6.7, 9.3, 12.9)  # the median half-life, in rounds, that is to be found again


class Design(NamedTuple):
    """Chains that decay as 2^(-n / h), h log-normal between sources and within them."""

    clusters: int
    chains: int  # of each cluster
    between: float
    within: float


DESIGNS = [Design(40, 1, 0.0, 0.5), Design(12, 5, 0.5, 0.3), Design(12, 5, 1.0, 0.3)]


@cache
def true_mean(half: float, spread: float) -> float:
    """The restricted mean of the first round below one half."""
    chances = (np.arange(100_000) + 0.5) / 100_000
    return float(np.clip(np.ceil(half * np.exp(spread * stats.norm.ppf(chances))), 1, ROUNDS[-1]).mean())


def simulate(design: Design, halves: tuple[float, ...], sets: int, seed: int = 7) -> dict[str, float]:
    """Coverage of both intervals and the relative bias of two estimates over many sets of chains."""
    rng = np.random.default_rng(seed)
    sources = np.repeat(np.arange(design.clusters), design.chains)
    rows = []
    for number in range(sets):
        half = halves[number % len(halves)]
        effect = rng.normal(0, design.between, design.clusters)[sources] + rng.normal(
            0, design.within, len(sources)
        )
        curves = 2.0 ** (-np.array(ROUNDS) / (half * np.exp(effect))[:, None])
        result = summarise([curve_outcome(curve, ROUNDS) for curve in curves.tolist()], ROUNDS, sources.tolist())
        mean = true_mean(half, float(np.hypot(design.between, design.within)))
        past_the_end = ROUNDS[-1] + 1
        low, high = (past_the_end if limit is None else limit for limit in result["half_life_interval"])
        mean_low, mean_high = result["restricted_mean_interval"]
        rows.append(
            (
                low <= np.ceil(half) <= high,
                mean_low <= mean <= mean_high,
                (result["half_life"] or past_the_end) / np.ceil(half) - 1,
                result["restricted_mean"] / mean - 1,
            )
        )
    names = ("median covered", "mean covered", "median bias", "mean bias")
    return dict(zip(names, np.mean(rows, axis=0), strict=True))


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_intervals_hold_the_truth_in_a_hundred_sets(design):
    figures = simulate(design, HALVES, 100)
    assert figures["median covered"] >= 0.925
    assert figures["mean covered"] >= 0.88  # 95% less three standard errors of a hundred sets
    assert abs(figures["median bias"]) < 0.15


def test_two_way_limits_are_wider_if_programs_differ():
    rng = np.random.default_rng(7)
    values = np.clip(10 + rng.normal(0, 2, (12, 1)) + rng.normal(0, 3, (1, 6)) + rng.normal(0, 1, (12, 6)), 0, 20)
    sources, programs = np.repeat(range(12), 6).tolist(), np.tile(range(6), 12).tolist()
    spread, free = variance(values.ravel(), sources)
    assert (spread, free) == (pytest.approx(values.mean(axis=1).var(ddof=1) / 12), 11)
    one = mean_interval(values.ravel(), sources, 20)
    two = mean_interval(values.ravel(), sources, 20, programs)
    assert two[0] < one[0] < values.mean() < one[1] < two[1]


@pytest.mark.parametrize("value", [0.0, 20.0, 7.3])
def test_intervals_stand_where_nothing_varies(value):
    low, high = mean_interval(np.full(18, value), [*"aabbccddeeffgghhii"], 20)
    assert 0 <= low <= value + 1e-9
    assert value - 1e-9 <= high <= 20
    assert mean_interval(np.full(3, value), ["a"] * 3, 20) is None


def test_two_way_limits_hold_the_truth_in_a_hundred_sets():
    [shares] = coverage.designs("long", [(12, 9)], 100, 0.5, False)
    assert shares.min() >= 0.9


def test_unequal_sources_widen_the_limits():
    values, sources = np.array([*[4.0, 6.0] * 5, 3.0, 8.0, 5.0]), [*"aaaaaaaaaa", *"bcd"]
    assert _clustered(values, sources)[1] == pytest.approx(13**2 / 103)
    assert variance(values, sources)[1] == 1.0
    assert _clustered(np.arange(12.0), [*"aaabbbcccddd"])[1] == 4
