"""Stability: Friedman's test as scipy has it, with the exact p beside it."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from convergebench.metric_modules.stability.friedman import friedman, permutation_p
from convergebench.metric_modules.stability.stability import stability
from scipy import stats


def test_friedman_agrees_with_scipy_with_and_without_ties():
    rng = np.random.default_rng(21)
    for number in range(200):
        images, runs = int(rng.integers(3, 40)), int(rng.integers(3, 6))
        table = rng.integers(0, 6, (images, runs)) if number % 2 else rng.random((images, runs))
        theirs = stats.friedmanchisquare(*table.T)
        np.testing.assert_allclose(friedman(table), (theirs.statistic, theirs.pvalue), atol=1e-10)


def test_the_exact_p_is_the_share_of_all_permutations():
    rng = np.random.default_rng(22)
    for table in (rng.random((4, 3)), rng.integers(0, 3, (4, 3)).astype(float)):
        observed = friedman(table)[0]
        everything = [friedman(np.array(rows))[0] for rows in product(*[list(permutations(row)) for row in table])]
        share = np.mean(np.array(everything) >= observed - 1e-9)
        assert permutation_p(table) == (pytest.approx(share), True)


def test_many_runs_are_permuted_at_random_and_said_to_be():
    table = np.random.default_rng(23).random((35, 5))
    p_value, exact = permutation_p(table)
    assert not exact
    assert p_value == pytest.approx(friedman(table)[1], abs=0.03)
    assert permutation_p(table) == (p_value, exact)


def test_runs_that_agree_everywhere_do_not_differ():
    result = stability([[0.5, 0.5, 0.5]] * 5)
    assert (result["statistic"], result["p_chi_square"], result["p_permutation"]) == (0.0, 1.0, 1.0)


def test_a_run_that_is_always_worse_is_seen():
    rng = np.random.default_rng(24)
    scores = rng.random((21, 3)) + np.array([0, 0, 1.0])
    result = stability(scores.tolist())
    assert result["p_permutation"] < 0.05
    assert result["statistic"] == pytest.approx(stability((-scores).tolist())["statistic"])
    assert stability(scores[:, :2].tolist())["runs"] == 2


def test_false_alarms_come_as_often_as_the_level_allows():
    rng = np.random.default_rng(25)
    alarms = [stability(rng.random((12, 3)).tolist())["p_permutation"] < 0.05 for _ in range(400)]
    assert np.mean(alarms) <= 0.075


def test_images_with_a_missing_run_are_left_out_and_counted():
    result = stability([[1, 2, 3], [1, None, 3], [1, 2, math.nan], [3, 2, 1]])
    assert (result["images"], result["images_left_out"]) == (2, 2)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([], "every image needs a value"),
        ([[1.0]], "every image needs a value"),
        ([1.0, 2.0, 3.0], "every image needs a value"),
        ([[1, 2], [1, 2, 3]], "every image needs a value"),
        ([[1, 2, None], [1, 2, 3]], "1 of 2 images have a value for every run"),
    ],
)
def test_bad_input_is_refused(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        stability(table)
