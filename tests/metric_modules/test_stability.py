"""Stability: Friedman's test as scipy has it, with the exact p beside it, and study 002's Table 3."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from convergebench.metric_modules.stability.friedman import friedman, permutation_p, rank_sum_distribution, squares
from convergebench.metric_modules.stability.stability import stability
from scipy import stats

# Table 3 of the restoration study: PSNR, SSIM, LPIPS on 21 images, MUSIQ, MANIQA, CLIP-IQA on 35; 3 runs each.
TABLE_3 = {
    "L3": ((1.238, 0.857, 0.857, 3.257, 0.171, 0.229), (0.538, 0.651, 0.651, 0.196, 0.918, 0.892)),
    "LF1": ((1.238, 1.524, 0.095, 6.229, 3.486, 1.429), (0.538, 0.467, 0.953, 0.044, 0.175, 0.490)),
    "S1": ((0.667, 1.238, 2.000, 2.114, 4.800, 7.943), (0.717, 0.538, 0.368, 0.347, 0.091, 0.019)),
    "SF2": ((0.667, 2.667, 1.238, 3.257, 0.057, 0.914), (0.717, 0.264, 0.538, 0.196, 0.972, 0.633)),
}


def attainable(images: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Every value the statistic can take without ties, rising, and the exact p of each."""
    own = np.tile(np.arange(runs, dtype=float), (images, 1))
    cells = rank_sum_distribution(own)
    sums = squares(own, cells)[cells > 0]
    values, place = np.unique(sums, return_inverse=True)
    chances = np.bincount(place, weights=cells[cells > 0])
    centre = images**2 * runs * (runs - 1) ** 2 / 4
    return (values - centre) * 12 / (images * runs * (runs + 1)), np.cumsum(chances[::-1])[::-1]


def snapped(printed: float, images: int, runs: int) -> tuple[float, float, float]:
    """A printed statistic brought to the nearest one that rank sums can give, its chi-square p and its exact p."""
    values, exact = attainable(images, runs)
    nearest = int(np.abs(values - printed).argmin())
    return float(values[nearest]), float(stats.chi2.sf(values[nearest], runs - 1)), float(exact[nearest])


def test_friedman_agrees_with_scipy_with_and_without_ties():
    rng = np.random.default_rng(21)
    for number in range(200):
        images, runs = int(rng.integers(3, 40)), int(rng.integers(3, 6))
        table = rng.integers(0, 6, (images, runs)) if number % 2 else rng.random((images, runs))
        theirs = stats.friedmanchisquare(*table.T)
        np.testing.assert_allclose(friedman(table), (theirs.statistic, theirs.pvalue), atol=1e-10)


def test_the_published_table_is_reproduced_in_24_of_24():
    agree = 0
    for statistics, p_values in TABLE_3.values():
        for place, (printed, p_value) in enumerate(zip(statistics, p_values, strict=True)):
            value, chi_square_p, _ = snapped(printed, images=21 if place < 3 else 35, runs=3)
            agree += abs(value - printed) <= 5e-4 and abs(chi_square_p - p_value) <= 5e-4
    assert agree == 24


def test_the_published_table_fits_one_number_of_images():
    def misses(images: int) -> int:
        return sum(
            abs(snapped(printed, images, 3)[0] - printed) > 5e-4 for row, _ in TABLE_3.values() for printed in row[:3]
        )

    assert misses(21) == 0
    assert misses(20) > 6


def test_the_exact_p_is_the_share_of_all_permutations():
    rng = np.random.default_rng(22)
    for table in (rng.random((4, 3)), rng.integers(0, 3, (4, 3)).astype(float)):
        observed = friedman(table)[0]
        everything = [friedman(np.array(rows))[0] for rows in product(*[list(permutations(row)) for row in table])]
        share = np.mean(np.array(everything) >= observed - 1e-9)
        assert permutation_p(table) == (pytest.approx(share), True)


def test_attainable_values_have_exact_chances():
    values, exact = attainable(3, 3)
    assert values == pytest.approx([0, 2 / 3, 2, 8 / 3, 14 / 3, 6])
    assert exact == pytest.approx([1, 34 / 36, 19 / 36, 13 / 36, 7 / 36, 1 / 36])


def test_many_runs_are_permuted_at_random_and_said_to_be():
    table = np.random.default_rng(23).random((35, 5))
    p_value, exact = permutation_p(table)
    assert not exact
    assert p_value == pytest.approx(friedman(table)[1], abs=0.03)
    assert permutation_p(table) == (p_value, exact)


def test_runs_that_agree_everywhere_do_not_differ():
    result = stability([[0.5, 0.5, 0.5]] * 5)
    assert (result["statistic"], result["p_chi_square"], result["p_permutation"]) == (0.0, 1.0, 1.0)
    assert not result["differ"]


def test_a_run_that_is_always_worse_is_seen():
    rng = np.random.default_rng(24)
    scores = rng.random((21, 3)) + np.array([0, 0, 1.0])
    result = stability(scores.tolist())
    assert result["differ"]
    assert result["statistic"] == pytest.approx(stability((-scores).tolist())["statistic"])
    assert stability(scores[:, :2].tolist())["runs"] == 2


def test_false_alarms_come_as_often_as_the_level_allows():
    rng = np.random.default_rng(25)
    alarms = [stability(rng.random((12, 3)).tolist())["differ"] for _ in range(400)]
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
    with pytest.raises(ValueError, match="got 5"):
        stability([[1, 2, 3]] * 3, level=5)
