"""Survival curves agree with scipy, and editors are compared on what they share."""

import numpy as np
import pytest
from convergebench.metric_modules.halflife.comparison import compare, correct_together, holm, sign_flip_p
from convergebench.metric_modules.halflife.survival import (
    area,
    cumulative_incidence,
    kaplan_meier,
    log_rank,
    median,
    pseudo_values,
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


def test_log_rank_agrees_with_scipy_on_200_random_samples():
    rng = np.random.default_rng(12)
    for _ in range(200):
        (first, first_lost), (other, other_lost) = (random_sample(rng, int(rng.integers(3, 60))) for _ in "ab")
        if not (first_lost.any() or other_lost.any()):
            continue
        statistic, p_value = log_rank(first, first_lost, other, other_lost)
        theirs = stats.logrank(
            stats.CensoredData(first[first_lost], right=first[~first_lost]),
            stats.CensoredData(other[other_lost], right=other[~other_lost]),
        )
        np.testing.assert_allclose([statistic, p_value], [theirs.statistic**2, theirs.pvalue], atol=1e-9)


def test_groups_that_cannot_differ_have_a_log_rank_p_of_one():
    assert log_rank([5, 5], [False, False], [5], [False]) == (0.0, 1.0)


def test_causes_and_survivors_add_up_to_one():
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


def test_without_censoring_incidence_is_a_plain_share():
    _, incidence = cumulative_incidence([1, 2, 2, 3], ["a", "a", "b", "b"])
    assert incidence["a"].tolist() == [0.25, 0.5, 0.5]
    assert incidence["b"].tolist() == [0.0, 0.25, 0.5]


def test_pseudo_values_average_to_the_area_even_with_failures():
    rng = np.random.default_rng(14)
    for _ in range(30):
        times, lost = random_sample(rng, 40)
        grid, alive = kaplan_meier(times, lost)
        horizon = times.max()
        jackknife = pseudo_values(times, lost, horizon)
        assert jackknife.mean() == pytest.approx(float(area(grid, alive, horizon)), abs=0.05)
    everyone = pseudo_values([3, 8, 20], [True, True, False], 20)
    assert everyone.tolist() == [3, 8, 20]


def test_the_median_is_the_first_time_with_no_more_than_half_left():
    grid, alive = kaplan_meier([1, 2, 3, 4], [True] * 4)
    assert median(grid, alive) == 2
    assert np.isinf(median(*kaplan_meier([1, 5, 5], [True, False, False])))
    assert np.isinf(median(*kaplan_meier([5, 5], [False, False])))


def test_sign_flips_are_exact_up_to_twelve_sources():
    for size in (5, 9, 12):
        assert sign_flip_p(np.arange(1.0, size + 1)) == 2 / 2**size
    theirs = stats.permutation_test(
        (np.array([1.5, -0.3, 2.2, 0.4, 1.1, -0.9, 0.8]),), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_p([1.5, -0.3, 2.2, 0.4, 1.1, -0.9, 0.8]) == pytest.approx(theirs.pvalue)
    assert sign_flip_p([0.0, 0.0, 0.0]) == 1.0


def test_many_sources_are_flipped_at_random_and_close_to_exact():
    rng = np.random.default_rng(15)
    values = rng.normal(0.45, 1, 16)
    signs = 1 - 2 * ((np.arange(2**16)[:, None] >> np.arange(16)) & 1)
    exact = (abs(signs @ values) >= abs(values.sum()) - 1e-9).mean()
    assert sign_flip_p(values) == pytest.approx(exact, abs=0.01)
    assert sign_flip_p(values) == sign_flip_p(values)


def test_holm_follows_the_textbook():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def cases(difference: float, sources: int, programs: int = 3) -> tuple[dict, dict, dict]:
    """Two editors on the same cases, the first better by about so many rounds."""
    rng = np.random.default_rng(16)
    names = [(source, program) for source in range(sources) for program in range(programs)]
    second = {name: float(rng.integers(2, 10)) for name in names}
    first = {name: kept + difference + rng.normal(0, 0.5) for name, kept in second.items()}
    return first, second, {name: name[0] for name in names}


def test_a_case_missing_through_failure_is_left_out_and_counted():
    first, second, source_of = cases(1, 12)
    first[0, 0] = None
    del second[3, 1]
    pair = compare(("a", "b"), first, second, source_of)
    assert (pair.cases, pair.left_out, pair.sources) == (34, 2, 12)


def test_the_verdict_names_the_better_editor_from_twelve_sources_on():
    first, second, source_of = cases(2, 12)
    [pair] = correct_together([compare(("a", "b"), first, second, source_of)])
    assert (pair.verdict, pair.p_holm) == ("first", 2 / 2**12)
    [reversed_pair] = correct_together([compare(("b", "a"), second, first, source_of)])
    assert reversed_pair.verdict == "second"
    assert pair.interval[0] > 1.5
    assert pair.sentence == f"a keeps {pair.difference:.1f} rounds longer than b on 36 cases of 12 sources"


def test_fewer_than_twelve_sources_only_indicate():
    first, second, source_of = cases(3, 11)
    [pair] = correct_together([compare(("a", "b"), first, second, source_of)])
    assert pair.p_value < 0.001
    assert pair.verdict == "indicative"


def test_equal_editors_stay_open_and_strangers_have_nothing_to_compare():
    first, second, source_of = cases(0, 14)
    two = compare(("a", "b"), first, second, source_of)
    pairs = correct_together([two, *(compare((name, "c"), first, {}, source_of) for name in "ab")])
    assert [pair.verdict for pair in pairs] == ["open", "indicative", "indicative"]
    assert pairs[1].difference is None
    assert "no case in common" in pairs[1].sentence


def test_chains_of_a_source_are_averaged_before_they_are_compared():
    names = [("x", n) for n in range(9)] + [("y", 0)]
    first = {name: 4.0 if name[0] == "x" else 0.0 for name in names}
    second = dict.fromkeys(names, 2.0)
    pair = compare(("a", "b"), first, second, {name: name[0] for name in names})
    assert (pair.difference, pair.p_value) == (0.0, 1.0)
