"""SSIM: both windows as scikit-image computes them, the reference's side once."""

import json

import numpy as np
import pytest
from convergebench.metric_modules._shared import images
from convergebench.metric_modules.ssim.measure import compare, reference
from convergebench.metric_modules.ssim.ssim import Ssim
from real_chains import FOLDER
from skimage.metrics import structural_similarity

SIZES = [(11, 11), (24, 17), (64, 64), (33, 129), (160, 200)]
THEIRS = {
    "gaussian": {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False},
    "uniform7": {},
}


def random_pairs(count):
    """Pairs of several sizes: unrelated, noisy, darkened, flat and nearly flat at white."""
    random = np.random.default_rng(5)
    for number in range(count):
        height, width = SIZES[number % len(SIZES)]
        first = random.integers(0, 256, (height, width, 3))
        kind = number // len(SIZES) % 5
        if kind == 4:
            first = 255 - random.integers(0, 2, first.shape)
        second = [
            random.integers(0, 256, first.shape),
            first + random.integers(-9, 10, first.shape),
            first // 2,
            np.full(first.shape, 200),
            np.full(first.shape, 255),
        ][kind]
        yield first.astype(np.uint8), np.clip(second, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("window", THEIRS)
def test_fifty_random_pairs_agree_with_scikit_image(window):
    pairs = list(random_pairs(50))
    for first, second in pairs:
        theirs = structural_similarity(first, second, channel_axis=2, data_range=255, **THEIRS[window])
        assert compare(reference(first, window), second) == pytest.approx(theirs, abs=1e-6)
    assert len(pairs) == 50


def test_identity_is_one_and_noise_lowers_it():
    random = np.random.default_rng(3)
    picture = random.integers(60, 196, (64, 64, 3))
    noise = random.normal(0, 1, picture.shape)
    noisy = [np.clip(picture + scale * noise, 0, 255).astype(np.uint8) for scale in (0, 2, 5, 12, 30)]
    known = reference(noisy[0])
    values = [compare(known, other) for other in noisy]
    assert values[0] == pytest.approx(1, abs=1e-12)
    assert values == sorted(values, reverse=True)
    assert values[3] == pytest.approx(compare(reference(noisy[3]), noisy[0]), abs=1e-6)


def test_one_reference_serves_many_predictions():
    random = np.random.default_rng(1)
    picture, *others = random.integers(0, 256, (4, 32, 32, 3)).astype(np.uint8)
    known = reference(picture)
    assert [compare(known, other) for other in others] == [compare(reference(picture), other) for other in others]


def test_a_picture_smaller_than_the_window_is_refused_by_name(tmp_path):
    large, small = np.zeros((12, 12, 3), np.uint8), np.zeros((12, 10, 3), np.uint8)
    metric = Ssim(cache_dir=str(tmp_path))
    with pytest.raises(ValueError, match="the reference is 10x12; the gaussian window needs 11"):
        metric.compute(predictions=[large, small], references=[large, small])
    assert metric.compute(predictions=[small], references=[small], window="uniform7")["ssim"] == pytest.approx(1)


def test_a_window_that_is_none_is_refused_with_those_there_are(tmp_path):
    picture = np.zeros((12, 12, 3), np.uint8)
    with pytest.raises(ValueError, match="no window 'box'; the windows are gaussian, uniform7"):
        Ssim(cache_dir=str(tmp_path)).compute(predictions=[picture], references=[picture], window="box")


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the real chains are not here")
def test_real_chains_give_the_published_numbers():
    published = json.loads((FOLDER / "published_scores.json").read_text())
    found = 0
    for editor, chains in published.items():
        for chain, scores in chains.items():
            known = reference(images.pixels(FOLDER / editor / chain / "I0_source.png"), "uniform7")
            for row in scores["rounds"]:
                folder = FOLDER / editor / chain
                shown, _ = images.pair(folder / f"I{row['round']}_backward.png", folder / "I0_source.png", "reference")
                assert compare(known, shown) == pytest.approx(row["ssim"], abs=1e-6)
                found += 1
    assert found == 72
