"""Friedman's test as scipy has it."""

import numpy as np
from convergebench.spaces_app.studies.restoration.statistics.restoration_stability import _friedman
from scipy import stats


def test_friedman_agrees_with_scipy_with_and_without_ties():
    rng = np.random.default_rng(21)
    for number in range(200):
        images, runs = int(rng.integers(3, 40)), int(rng.integers(3, 6))
        table = rng.integers(0, 6, (images, runs)) if number % 2 else rng.random((images, runs))
        theirs = stats.friedmanchisquare(*table.T)
        np.testing.assert_allclose(_friedman(table), (theirs.statistic, theirs.pvalue), atol=1e-10)


def test_runs_that_agree_in_every_picture_do_not_differ():
    assert _friedman(np.full((5, 3), 0.5)) == (0.0, 1.0)
