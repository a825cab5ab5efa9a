"""PSNR and RMSE: exact, bounded, and what others compute."""

import json
import math

import numpy as np
import pytest
from convergebench.metric_modules._shared import images
from convergebench.metric_modules.psnr.measure import CEILING, psnr_and_rmse
from convergebench.metric_modules.psnr.psnr import Psnr
from real_chains import FOLDER
from skimage.metrics import mean_squared_error, peak_signal_noise_ratio

SIZES = [(1, 1), (7, 5), (64, 64), (33, 129), (240, 320)]


def random_pairs(count):
    """Pairs of several sizes: unrelated, noisy, darkened, flat and one sample apart."""
    random = np.random.default_rng(11)
    for number in range(count):
        height, width = SIZES[number % len(SIZES)]
        first = random.integers(0, 256, (height, width, 3)).astype(np.uint8)
        near = first.astype(int) + random.integers(-9, 10, first.shape)
        one_apart = first.copy()
        one_apart[0, 0, 0] ^= 1
        second = [random.integers(0, 256, first.shape), near, first // 2, np.full(first.shape, 200), one_apart]
        yield first, np.clip(second[number // len(SIZES) % 5], 0, 255).astype(np.uint8)


def test_fifty_random_pairs_agree_with_scikit_image():
    pairs = list(random_pairs(50))
    for first, second in pairs:
        found = psnr_and_rmse(first, second)
        error = mean_squared_error(first, second)
        assert found["rmse"] == pytest.approx(math.sqrt(error), abs=1e-6)
        if error:
            theirs = peak_signal_noise_ratio(first, second, data_range=255)
            assert found["psnr"] == pytest.approx(min(theirs, CEILING), abs=1e-6)
    assert len(pairs) == 50


def test_identical_pictures_have_the_ceiling_and_never_infinity():
    picture = np.zeros((4, 4, 3), np.uint8)
    assert psnr_and_rmse(picture, picture) == {"psnr": CEILING, "rmse": 0}
    huge = np.zeros((2000, 2000, 3), np.uint8)
    nearly = huge.copy()
    nearly[0, 0, 0] = 1
    assert psnr_and_rmse(huge, nearly)["psnr"] == CEILING


def test_order_does_not_matter_and_more_noise_is_farther():
    random = np.random.default_rng(3)
    picture = random.integers(60, 196, (64, 64, 3))
    noise = random.normal(0, 1, picture.shape)
    noisy = [np.clip(picture + scale * noise, 0, 255).astype(np.uint8) for scale in (0, 2, 5, 12, 30)]
    found = [psnr_and_rmse(noisy[0], other) for other in noisy]
    assert found[3] == psnr_and_rmse(noisy[3], noisy[0])
    assert [row["psnr"] for row in found] == sorted((row["psnr"] for row in found), reverse=True)
    assert [row["rmse"] for row in found] == sorted(row["rmse"] for row in found)


def test_the_largest_difference_is_zero_decibels():
    black = np.zeros((3000, 3000, 3), np.uint8)  # its sum of squares is far above 2**32
    assert psnr_and_rmse(black, np.full_like(black, 255)) == {"psnr": 0, "rmse": 255}


def test_the_module_gives_examples_mean_and_signature(tmp_path):
    black = np.zeros((8, 8, 3), np.uint8)
    result = Psnr(cache_dir=str(tmp_path)).compute(predictions=[black, black + 3], references=[black, black])
    assert result["rmse_values"] == [0, 3]
    assert result["rmse"] == 1.5
    assert result["psnr"] == sum(result["psnr_values"]) / 2
    assert result["signature"] == "psnr/1 ceiling=100 size=None"


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the real chains are not here")
def test_real_chains_give_the_published_numbers():
    published = json.loads((FOLDER / "published_scores.json").read_text())
    found = 0
    for editor, chains in published.items():
        for chain, scores in chains.items():
            for row in scores["rounds"]:
                folder = FOLDER / editor / chain
                shown, original = images.pair(
                    folder / f"I{row['round']}_backward.png", folder / "I0_source.png", "reference"
                )
                assert psnr_and_rmse(original, shown)["psnr"] == pytest.approx(row["psnr"], abs=1e-6)
                found += 1
    assert found == 72
