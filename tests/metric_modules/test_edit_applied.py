"""Edit applied: an edit is found and its undoing is found, and neither decay nor doing nothing passes for one."""

from functools import cache

import cv2
import numpy as np
import pytest
from benchmarks.verdicts.wear import coded as jpeg
from convergebench.metric_modules._shared.looks import find_edit, look, seen
from convergebench.metric_modules.edit_applied.edit_applied import EditApplied
from convergebench.metric_modules.edit_applied.judge import _judge_forward, judge_step
from convergebench.metric_modules.edit_applied.whole_picture import TRANSFORMS, find_transform
from scored import worn as noisy
from skimage import data

CYCLE = ("add a thing", "remove the thing")
NAMES = ("astronaut", "coffee", "rocket", "gravel")


@cache
def picture(name):
    whole = getattr(data, name)()
    return np.ascontiguousarray(whole if whole.ndim == 3 else np.dstack([whole] * 3))


def stretched(shown, gain=1.4):
    return np.clip((shown.astype(float) - 128) * gain + 128, 0, 255).astype(np.uint8)


def shifted(shown, pixels=16):
    """To the right by pixels of a picture of short side 512."""
    pixels = pixels * min(shown.shape[:2]) // 512
    return cv2.copyMakeBorder(shown, 0, 0, pixels, 0, cv2.BORDER_REPLICATE)[:, : shown.shape[1]]


def painted(name, place, size, colour):
    """The picture with a disc, and the picture with the disc painted out again; sizes are parts of the short side."""
    before = picture(name)
    height, width = before.shape[:2]
    mask = np.zeros((height, width), np.uint8)
    cv2.circle(mask, (int(place[0] * width), int(place[1] * height)), int(size * min(height, width)), 255, -1)
    forward = before.copy()
    forward[mask > 0] = colour
    return before, forward, cv2.inpaint(forward, cv2.dilate(mask, np.ones((5, 5))), 3, cv2.INPAINT_TELEA)


def round_of(*pictures, cycle=CYCLE, **options):
    """What each step of one round is judged to be, its pictures given from the previous return on."""
    shown = [seen(picture) for picture in pictures]
    return [judge_step(cycle, True, k, shown, **options) for k in range(1, len(shown))]


def worn(shown):
    """The picture after what is no edit, by name."""
    made = {f"JPEG {quality}": jpeg(shown, quality) for quality in (30, 50, 75, 95)}
    made["JPEG 30 six times"] = shown
    for _ in range(6):
        made["JPEG 30 six times"] = jpeg(made["JPEG 30 six times"], 30)
    made |= {f"noise {sigma}": noisy(shown, sigma) for sigma in (5, 15, 30)}
    made |= {"shift": shifted(shown, 4), "contrast": stretched(shown, 1.1)}
    return made | {"blur": cv2.GaussianBlur(shown, (0, 0), 2)}


@pytest.mark.parametrize("name", NAMES)
def test_compression_noise_and_softening_are_no_edit(name):
    forward, undo = round_of(*[picture(name)] * 3)
    assert (forward["changed"], forward["region_share"], undo["undone"]) == (0, 0, "not_changed")
    start = look(picture(name))
    for how, shown in worn(picture(name)).items():
        assert _judge_forward(start, look(shown), small=True)["changed"] == 0, how


@pytest.mark.parametrize("editor", [stretched, shifted], ids=["contrast stretch", "shift by 16 pixels"])
def test_a_stretch_or_a_shift_is_never_both_applied_and_undone(editor):
    shown = [picture("coffee")]
    for _ in range(6):
        shown.append(editor(shown[-1]))
    for n in (0, 2, 4):
        forward, undo = round_of(*shown[n : n + 3])
        assert (forward["changed"], undo["undone"]) != (1, 1)


@pytest.mark.parametrize("size", [0.04, 0.25])
@pytest.mark.parametrize("colour", [(220, 30, 40), (250, 250, 250)])
@pytest.mark.parametrize("name", ["coffee", "chelsea"])
def test_a_disc_is_found_applied_and_its_removal_is_found_undone(name, colour, size):
    before, forward, back = painted(name, (0.3, 0.7), size, colour)
    made, gone = jpeg(noisy(forward, 4), 80), jpeg(noisy(back, 4, 1), 60)
    first, second = round_of(before, made, gone)
    expected = np.pi * size**2 * min(before.shape[:2]) / max(before.shape[:2])
    assert first["changed"] == 1
    assert first["region_share"] == pytest.approx(expected, rel=0.5)
    assert (second["undone"], second["undo_ratio"] < 0.5) == (1, True)
    assert round_of(before, made, made)[1]["undone"] == 0


MONOCHROME = ("turn the image monochrome", "color the monochrome image")


def faded(shown, share):
    """The picture with this share of its colour."""
    grey = cv2.cvtColor(shown, cv2.COLOR_RGB2GRAY)[..., None]
    return np.rint(grey + share * (shown.astype(float) - grey)).clip(0, 255).astype(np.uint8)


def tinted(shown, share, colour=(40, 170, 60)):
    return np.rint(shown * (1 - share) + share * np.array(colour)).astype(np.uint8)


@pytest.mark.parametrize("name", ["astronaut", "coffee"])
def test_a_change_of_all_colours_is_an_edit_only_if_asked_for(name):
    greener = ("make the whole picture a little greener", "take the green tint away")
    shown, pale = picture(name), faded(picture(name), 0.3)
    for cycle, before, after, other in (
        (MONOCHROME, pale, faded(pale, 0), faded(pale, 0.7)),
        (greener, shown, tinted(shown, 0.1), tinted(shown, 0.1, (190, 60, 170))),
    ):
        made, back = round_of(before, after, jpeg(before, 60), cycle=cycle)
        assert (made["changed"], back["undone"]) == (1, 1)
        assert round_of(before, after, after, cycle=cycle)[1]["undone"] == 0
        for worn in (before, jpeg(before, 40), noisy(before, 12), other):
            assert round_of(before, worn, before, cycle=cycle)[0]["changed"] == 0
        assert round_of(before, after, before)[0]["changed"] == 0, "a tint is no thing"


@pytest.mark.parametrize("shape", [(64, 64), (90, 700), (1, 1), (3, 500), (1024, 800)])
def test_any_size_is_compared_with_any_other(shape):
    shown = cv2.resize(picture("coffee"), shape[::-1], interpolation=cv2.INTER_AREA)
    assert find_edit(look(shown), look(shown))[1].mean() == 0
    assert 0 <= find_edit(look(shown), look(picture("coffee")))[1].mean() <= 1


def test_the_oracle_tells_all_flips_and_rotations_apart():
    turns = ("flip horizontally", "flip vertically", "rotate 90", "rotate 180", "rotate 270")
    start = look(picture("coffee"))
    for done in ("none", *turns):
        exact = np.ascontiguousarray(TRANSFORMS[done](picture("coffee")))
        for shown in (exact, jpeg(exact, 30), shifted(noisy(exact, 25), 8)):
            found = [find_transform(start, look(shown), {asked})[0] == asked for asked in turns]
            assert found == [asked == done for asked in turns], done


def test_a_round_of_another_shape_than_the_source_is_judged():
    pictures = [cv2.resize(shown, (500, 700)) for shown in painted("coffee", (0.5, 0.5), 0.2, (220, 30, 40))]
    undo = round_of(*pictures, source=seen(picture("coffee")))[1]
    assert (undo["undone"], undo["undo_ratio"] < 0.4) == (1, True)


def test_what_the_picture_cannot_tell_is_null():
    half, flips = picture("coffee")[:, :300], ("flip horizontally", "flip horizontally")
    symmetric = np.ascontiguousarray(np.hstack([half, half[:, ::-1]]))
    for shown, cycle, code in ((symmetric, flips, "symmetric"), (faded(half, 0), MONOCHROME, "already_so")):
        forward, undo = round_of(shown, shown, shown, cycle=cycle)
        assert forward["changed"] == undo["undone"] == code


def test_the_module_gives_means_and_a_reason_for_every_null(tmp_path):
    before = picture("astronaut")
    balled = before.copy()
    balled[60:160, 300:400] = (220, 30, 40)
    metric = EditApplied(cache_dir=str(tmp_path))
    twice = [before] * 2
    result = metric.compute(predictions=[balled, before], references=twice, returns=twice, small=True)
    assert (result["changed"], result["undone"]) == (0.5, 1)
    assert result["undo_ratio_values"] == [0, None]
    assert set(result["reasons"][1]) == {"as_asked", "undone", "undo_ratio", "undo_explained"}
    assert result["signature"].startswith("edit_applied/6 ")
    given = {"predictions": [np.ascontiguousarray(before[:, ::-1])], "references": [before], "returns": [before]}
    flipped = metric.compute(**given, cycle=["flip horizontally", "flip it back"])
    assert (flipped["changed"], flipped["as_asked"], flipped["undone"]) == (1, 1, 1)
    assert flipped["region_share"] is None
    with pytest.raises(ValueError, match="give two instructions"):
        metric.compute(**given, cycle="flip")


def test_what_is_left_of_an_edit_is_told_from_another_loss():
    source, forward, _ = painted("chelsea", (0.4, 0.55), 0.12, (220, 40, 40))
    _, other, _ = painted("chelsea", (0.4, 0.55), 0.12, (30, 60, 230))

    def judged(back):
        shown = [seen(each) for each in (source, forward, jpeg(back, 80))]
        return judge_step(CYCLE, True, 2, shown, source=shown[0])

    assert judged(source)["undone"] == 1
    left, half = judged(forward), judged(source // 2 + forward // 2)
    assert (left["undone"], left["undo_explained"] > 0.9) == (0, True)
    assert (half["undone"], half["undo_explained"] > 0.75) == (0, True)
    assert 0.4 < half["undo_ratio"] < 0.6
    replaced = judged(other)
    assert replaced["undone"] == "something_else"  # the red disc is gone, and the cat's fur with it
    assert replaced["undo_ratio"] > 0.4


def test_blurring_and_sharpening_are_judged_by_their_detail():
    blurring = ("blur the image", "sharpen the blurred image")
    sharpening = ("sharpen the image", "blur the image slightly, back to its original sharpness")
    source = picture("astronaut")
    soft = cv2.GaussianBlur(source, (0, 0), 2.5)
    sharp = source + 1.5 * (source - cv2.GaussianBlur(source, (0, 0), 1.5).astype(float))
    for cycle, forward in ((blurring, soft), (sharpening, np.clip(sharp, 0, 255).astype(np.uint8))):
        made, back = round_of(source, forward, jpeg(source, 75), cycle=cycle)
        assert (made["changed"], made["as_asked"], back["undone"]) == (1, 1, 1), cycle
        made, back = round_of(source, forward, jpeg(forward, 75), cycle=cycle)
        assert (made["changed"], back["undone"]) == (1, 0), cycle
        for how, shown in worn(source).items():
            if cycle is sharpening or how != "blur":
                made, back = round_of(source, shown, source, cycle=cycle)
                assert (made["changed"], back["undone"]) == (0, "not_changed"), (cycle, how)
    flat = np.full((512, 512, 3), 128, np.uint8)
    assert round_of(flat, flat, flat, cycle=blurring)[0]["changed"] == "no_detail"
