"""Registration: known moves are found and undone, and what has no move to tell is null and never zero."""

from functools import cache

import cv2
import numpy as np
import pytest
from benchmarks.verdicts.wear import coded
from convergebench.metric_modules._shared.scoring import reason_text
from convergebench.metric_modules.registration.align import (
    anchors,
    locate,
)
from convergebench.metric_modules.registration.measure import FIELDS, _psnr_and_ssim, register
from convergebench.metric_modules.registration.spec import SPEC
from skimage import data
from test_kept_numbers import moved

NAMES = ("astronaut", "coffee", "gravel")
MOVES = ((5.25, -2.5, 1.0), (16.0, 0.0, 1.0), (-14.5, 3.25, 0.985), (10.0, -12.0, 1.02))


@cache
def picture(name):
    whole = getattr(data, name)()
    whole = np.ascontiguousarray(whole if whole.ndim == 3 else np.dstack([whole] * 3))
    zoom = 512 / min(whole.shape[:2])
    return cv2.resize(whole, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_AREA) if zoom != 1 else whole


def worn(shown):
    noise = np.random.default_rng(0).normal(0, 6, shown.shape)
    return coded(np.clip(shown + noise, 0, 255).astype(np.uint8), 50)


def registered(reference, prediction, **options):
    return register(anchors(reference), reference, prediction, **options)


@pytest.mark.parametrize(("x", "y", "scale"), MOVES)
@pytest.mark.parametrize("name", NAMES)
def test_a_known_move_is_found_through_compression_and_noise(name, x, y, scale):
    found = locate(anchors(picture(name)), worn(moved(picture(name), x, y, scale)))
    assert found.accepted
    assert (found.x, found.y) == pytest.approx((x, y), abs=0.3)
    assert found.scale == pytest.approx(scale, abs=2e-3)


def test_an_edit_and_another_contrast_do_not_disturb_it():
    reference = picture("coffee")
    edited = (40 + 0.6 * moved(reference, 8, -5, 1.0)).astype(np.uint8)
    cv2.circle(edited, (200, 300), 110, (220, 30, 40), -1)
    found = locate(anchors(reference), edited)
    assert found.accepted
    assert (found.x, found.y) == pytest.approx((8, -5), abs=0.2)


def unmatched():
    plain = np.full((512, 512, 3), 90, np.uint8)
    mirrored = np.ascontiguousarray(picture("astronaut")[:, ::-1])
    return {
        "another picture": (picture("astronaut"), picture("gravel")),
        "mirrored": (picture("astronaut"), mirrored),
        "a plain answer": (picture("astronaut"), plain),
        "moved too far": (picture("astronaut"), moved(picture("astronaut"), 57, 0, 1.0)),
        "rotated": (picture("astronaut"), np.ascontiguousarray(np.rot90(picture("astronaut")))),
        "a plain reference": (plain, picture("astronaut")),
        "too small": (picture("astronaut")[:40, :40], picture("astronaut")[:40, :40]),
        "one pixel": (plain[:1, :1], plain[:1, :1]),
    }


@pytest.mark.parametrize("case", unmatched())
def test_what_has_no_move_to_tell_is_null_with_a_reason(case):
    found = registered(*unmatched()[case])
    null = [field for field in FIELDS if not isinstance(found[field], float)]
    assert set(null) >= {"shift_x", "shift_y", "scale", "psnr_registered", "ssim_registered"}
    assert all(len(reason_text(SPEC, found[field])) > 20 for field in null)
    assert "registration_residual" in null or found["registration_residual"] >= 2


def test_a_picture_that_did_not_move_keeps_its_raw_scores():
    reference = picture("coffee")
    prediction = worn(reference)
    raw = _psnr_and_ssim(reference, prediction)
    found = registered(reference, prediction)
    assert (found["psnr_registered"], found["ssim_registered"]) == raw
    told = registered(reference, prediction, raw=(12.0, 0.5))
    assert (told["psnr_registered"], told["ssim_registered"]) == (12.0, 0.5)
    elsewhere = registered(reference, moved(reference, 6, 0, 1.0), raw=(12.0, 0.5))
    assert elsewhere["psnr_registered"] > 30
    same = registered(reference, reference)
    assert (same["shift_x"], same["shift_y"]) == pytest.approx((0, 0), abs=0.05)
    assert same["scale"] == pytest.approx(1, abs=3e-4)
    assert (same["psnr_registered"], same["ssim_registered"]) == (100, 1)


def test_a_long_strip_is_affordable_and_two_sizes_refused():
    strip = np.random.default_rng(0).integers(0, 256, (64, 6000, 3)).astype(np.uint8)
    known = anchors(strip)
    assert len(known[2]) <= 128
    assert locate(known, np.roll(strip, 2, axis=1)).x == pytest.approx(2, abs=0.1)
    with pytest.raises(ValueError, match="the prediction is 768x512 and the reference 512x512; give one size"):
        locate(anchors(picture("astronaut")), picture("coffee"))
