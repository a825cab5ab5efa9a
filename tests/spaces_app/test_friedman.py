"""Friedman's test as scipy has it, with the exact p beside it."""

from itertools import permutations, product

import numpy as np
import pytest
from convergebench.spaces_app.studies.restoration.statistics import restoration_stability
from convergebench.spaces_app.studies.restoration.statistics.restoration_stability import _friedman, _permutation_p
from scipy import stats


def test_friedman_agrees_with_scipy_with_and_without_ties():
    rng = np.random.default_rng(21)
    for number in range(200):
        images, runs = int(rng.integers(3, 40)), int(rng.integers(3, 6))
        table = rng.integers(0, 6, (images, runs)) if number % 2 else rng.random((images, runs))
        theirs = stats.friedmanchisquare(*table.T)
        np.testing.assert_allclose(_friedman(table), (theirs.statistic, theirs.pvalue), atol=1e-10)


def test_the_exact_p_is_the_share_of_all_permutations():
    rng = np.random.default_rng(22)
    for table in (rng.random((4, 3)), rng.integers(0, 3, (4, 3)).astype(float)):
        observed = _friedman(table)[0]
        everything = [
            _friedman(np.array(rows))[0] for rows in product(*[list(permutations(row)) for row in table])
        ]
        share = np.mean(np.array(everything) >= observed - 1e-9)
        assert _permutation_p(table) == (pytest.approx(share), True)


def test_too_many_permutations_are_drawn():
    table = np.random.default_rng(23).random((35, 5))
    assert _permutation_p(table)[0] == pytest.approx(_friedman(table)[1], abs=0.03)
    rng, ranks = np.random.default_rng(0), stats.rankdata(table, axis=1)
    drawn = [(rng.permuted(ranks, axis=1).sum(axis=0) ** 2).sum() for _ in range(20_000)]
    hits = sum(number >= (ranks.sum(axis=0) ** 2).sum() - 1e-9 for number in drawn)
    assert _permutation_p(table) == ((1 + hits) / 20_001, False)
    table = np.full((5, 3), 0.5)
    assert (_friedman(table), _permutation_p(table)) == ((0.0, 1.0), (1.0, True))


@pytest.mark.parametrize(
    ("first", "highest"), [((1, 2, 3), 2), ((1, 1, 3), 4)]
)  # ranks from 0; halves are doubled
def test_permutations_are_counted_as_long_as_the_work_is_allowed(first, highest, monkeypatch):
    table = np.array([first, *[(1, 2, 3), (3, 1, 2)] * 2])
    work = 6 * 5 * (5 * highest + 1) ** 2  # permutations of a row, rows, places of two sums
    for less in (0, 1):
        monkeypatch.setattr(restoration_stability, "_WORK", work - less)
        assert _permutation_p(table)[1] is not bool(less)
