"""PSNR, RMSE and SSIM: exact, bounded, and what scikit-image computes."""

import math

import numpy as np
import pytest
from convergebench.metric_modules.psnr.measure import CEILING, psnr_and_rmse
from convergebench.metric_modules.psnr.psnr import Psnr
from convergebench.metric_modules.ssim.measure import reference, ssim
from convergebench.metric_modules.ssim.ssim import Ssim
from skimage.metrics import mean_squared_error, peak_signal_noise_ratio, structural_similarity

SIZES = [(11, 11), (24, 17), (64, 64), (33, 129), (160, 200)]
THEIRS = {
    "gaussian": {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False},
    "uniform7": {},
}


def random_pairs():
    """Pairs of several sizes: unrelated, noisy, darkened, flat, nearly flat at white and one sample apart."""
    random = np.random.default_rng(5)
    for size in SIZES * 2:
        first, white = random.integers(0, 256, (*size, 3)), 255 - random.integers(0, 2, (*size, 3))
        one_apart = first.copy()
        one_apart[0, 0, 0] ^= 1
        noisy = np.clip(first + random.integers(-9, 10, first.shape), 0, 255)
        pairs = [(first, other) for other in (random.integers(0, 256, first.shape), noisy, first // 2, one_apart)]
        for pair in (*pairs, (first, np.full_like(first, 200)), (white, np.full_like(first, 255))):
            yield [picture.astype(np.uint8) for picture in pair]


def test_sixty_random_pairs_agree_with_scikit_image():
    for first, second in random_pairs():
        found, error = psnr_and_rmse(first, second), mean_squared_error(first, second)
        assert found["rmse"] == pytest.approx(math.sqrt(error), abs=1e-6)
        theirs = peak_signal_noise_ratio(first, second, data_range=255) if error else CEILING
        assert found["psnr"] == pytest.approx(min(theirs, CEILING), abs=1e-6)
        for window, options in THEIRS.items():
            theirs = structural_similarity(first, second, channel_axis=2, data_range=255, **options)
            known = reference(first, window)  # one reference serves many
            assert ssim(known, second) == ssim(known, second) == pytest.approx(theirs, abs=1e-6)


def test_identical_pictures_have_the_ceiling():
    picture = np.zeros((1, 1, 3), np.uint8)
    assert psnr_and_rmse(picture, picture) == {"psnr": CEILING, "rmse": 0}
    huge = np.zeros((2000, 2000, 3), np.uint8)
    nearly = huge.copy()
    nearly[0, 0, 0] = 1
    assert psnr_and_rmse(huge, nearly)["psnr"] == CEILING
    # The sum of squares is far above 2**32.
    assert psnr_and_rmse(huge, np.full_like(huge, 255)) == {"psnr": 0, "rmse": 255}


def test_the_module_gives_examples_mean_and_signature(tmp_path):
    black = np.zeros((8, 8, 3), np.uint8)
    result = Psnr(cache_dir=str(tmp_path)).compute(predictions=[black, black + 3], references=[black, black])
    assert result["rmse_values"] == [0, 3]
    assert result["rmse"] == 1.5
    assert result["psnr"] == sum(result["psnr_values"]) / 2
    assert result["signature"] == "psnr/1 ceiling=100 size=None"


def test_ssim_refuses_small_pictures_and_unknown_windows(tmp_path):
    large, small = np.zeros((12, 12, 3), np.uint8), np.zeros((12, 10, 3), np.uint8)
    metric = Ssim(cache_dir=str(tmp_path))
    with pytest.raises(ValueError, match="the reference is 10x12; the gaussian window needs 11"):
        metric.compute(predictions=[large, small], references=[large, small])
    assert metric.compute(predictions=[small], references=[small], window="uniform7")["ssim"] == pytest.approx(1)
    with pytest.raises(ValueError, match="no window 'box'; the windows are gaussian, uniform7"):
        metric.compute(predictions=[large], references=[large], window="box")
