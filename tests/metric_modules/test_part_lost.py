"""What is left of an edit is told from another loss, and blurring and sharpening are judged by their detail."""

import cv2
import numpy as np
import pytest
from benchmarks.verdicts.wear import coded as jpeg
from convergebench.metric_modules._shared.looks import look
from convergebench.metric_modules.edit_applied.judge import _judge_forward, judge_step, seen
from test_edit_applied import CYCLE, picture

NAMES = ("astronaut", "coffee", "rocket", "chelsea")


def disc(shown, share, place=(0.4, 0.55)):
    """A mask that covers this share of the picture."""
    height, width = shown.shape[:2]
    mask = np.zeros((height, width), np.uint8)
    radius = round((share * height * width / np.pi) ** 0.5)
    cv2.circle(mask, (int(place[0] * width), int(place[1] * height)), radius, 1, -1)
    return mask.astype(bool)


def degraded(shown, how, seed=0):
    generator = np.random.default_rng(seed)
    height, width = shown.shape[:2]
    if how.startswith("jpeg"):
        return jpeg(shown, int(how.removeprefix("jpeg ")))
    if how == "noise":
        return np.clip(shown + generator.normal(0, 12, shown.shape), 0, 255).astype(np.uint8)
    if how == "resize":
        return cv2.resize(
            cv2.resize(shown, (width // 2, height // 2), interpolation=cv2.INTER_AREA), (width, height)
        )
    if how == "blur":
        return cv2.GaussianBlur(shown, (0, 0), 2)
    if how == "cast":
        return np.clip(255 * (shown / 255 * np.exp([0.25, 0, -0.25])) ** 1.15 + 8, 0, 255).astype(np.uint8)
    if how == "shift":
        return cv2.copyMakeBorder(shown, 4, 0, 9, 0, cv2.BORDER_REPLICATE)[:height, :width]
    return shown


WEAR = ("none", "jpeg 70", "jpeg 40", "noise", "resize", "blur", "cast", "shift")


@pytest.mark.parametrize("distance", [14, 18])
def test_a_faint_edit_counts_where_its_middle_is_certain(distance):
    source = picture("astronaut")
    lab = cv2.cvtColor(source.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    soft = cv2.GaussianBlur(disc(source, 0.02, (0.85, 0.3)).astype(np.float32), (0, 0), 4)[..., None]
    lab += soft * np.array([-0.6, 0.6, 0.53], np.float32) * distance
    faint = (cv2.cvtColor(lab, cv2.COLOR_LAB2RGB) * 255).round().clip(0, 255).astype(np.uint8)
    judged = _judge_forward(look(source), look(jpeg(faint, 90)))
    assert judged["changed"] == 1
    assert judged["region_share"] == pytest.approx(0.02, rel=0.4)


def returns(back):
    """How a return is judged after a red disc was added to a picture."""
    source = picture("chelsea")
    forward = np.where(disc(source, 0.03)[..., None], np.uint8([220, 40, 40]), source)
    shown = [seen(each) for each in (source, forward, jpeg(back(source, forward), 80))]
    return judge_step(CYCLE, True, 2, shown, source=shown[0])


def test_what_is_left_of_an_edit_is_told_from_another_loss():
    assert returns(lambda source, forward: source)["undone"] == 1
    left = returns(lambda source, forward: forward)
    assert (left["undone"], left["undo_explained"] > 0.9) == (0, True)
    half = returns(lambda source, forward: (source // 2 + forward // 2).astype(np.uint8))
    assert (half["undone"], half["undo_explained"] > 0.75) == (0, True)
    assert 0.4 < half["undo_ratio"] < 0.6

    def replaced(source, forward):
        return np.where(disc(source, 0.03)[..., None], np.uint8([30, 60, 230]), source)

    other = returns(replaced)
    assert other["undone"] == "something_else"  # the red disc is gone, and the cat's fur with it
    assert other["undo_ratio"] > 0.4
    assert other["undo_explained"] < 0.75


def sharpness_of_round(cycle, *pictures):
    """How both steps of a round are judged that changes the whole picture's sharpness."""
    return [judge_step(cycle, True, k, pictures[: k + 1], source=pictures[0]) for k in (1, 2)]


@pytest.mark.parametrize(
    "name", [*NAMES[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[2:])]
)
def test_blurring_and_sharpening_are_judged_by_their_detail(name):
    blurring = ("blur the image", "sharpen the blurred image")
    sharpening = ("sharpen the image", "blur the image slightly, back to its original sharpness")
    source = cv2.resize(picture(name), (512, 512), interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(source, (0, 0), 2.5)
    sharp = np.clip(source + 1.5 * (source - cv2.GaussianBlur(source, (0, 0), 1.5).astype(float)), 0, 255)
    sharp = sharp.astype(np.uint8)
    known = seen(source)
    for cycle, forward in ((blurring, soft), (sharpening, sharp)):
        made, back = sharpness_of_round(cycle, known, seen(forward), seen(jpeg(source, 75)))
        assert (made["changed"], made["as_asked"], back["undone"]) == (1, 1, 1), cycle
        made, back = sharpness_of_round(cycle, known, seen(forward), seen(jpeg(forward, 75)))
        assert (made["changed"], back["undone"]) == (1, 0), cycle
    for how in WEAR:
        worn = seen(degraded(source, how))
        for cycle in (blurring, sharpening):
            if cycle is sharpening or how not in ("blur", "resize"):  # these two do blur
                made, back = sharpness_of_round(cycle, known, worn, known)
                assert made["changed"] == 0, (cycle, how)
                assert back["undone"] == "not_changed"


def test_without_detail_sharpness_is_null():
    flat = seen(np.full((512, 512, 3), 128, np.uint8))
    blurring = ("blur the image", "sharpen the blurred image")
    assert sharpness_of_round(blurring, flat, flat, flat)[0]["changed"] == "no_detail"
