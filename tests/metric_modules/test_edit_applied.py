"""Edit applied: an edit is found and its undoing is found, and neither decay nor doing nothing passes for one."""

from functools import cache

import cv2
import numpy as np
import pytest
from benchmarks.verdicts.wear import coded as jpeg
from convergebench.metric_modules._shared.looks import find_edit, look
from convergebench.metric_modules.edit_applied.cycles import asked_transforms, roles
from convergebench.metric_modules.edit_applied.edit_applied import EditApplied
from convergebench.metric_modules.edit_applied.judge import _judge_forward, cosine, judge_step, seen
from convergebench.metric_modules.edit_applied.whole_picture import TRANSFORMS, find_transform
from convergebench.metric_modules.halflife.causes import COLOUR
from skimage import data

CYCLE = ("add a thing", "remove the thing")
NAMES = ("astronaut", "coffee", "rocket", "gravel")


@cache
def picture(name):
    whole = getattr(data, name)()
    return np.ascontiguousarray(whole if whole.ndim == 3 else np.dstack([whole] * 3))


def noisy(shown, sigma, seed=0):
    return np.clip(shown + np.random.default_rng(seed).normal(0, sigma, shown.shape), 0, 255).astype(np.uint8)


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


def round_of(*pictures, cycle=CYCLE, closes=True, **options):
    """What each step of one round is judged to be, its pictures given from the previous return on."""
    shown = [seen(picture) for picture in pictures]
    return [judge_step(cycle, closes, k, shown, **options) for k in range(1, len(shown))]


def chain_of(start, editor, rounds=2):
    shown = [start]
    for _ in range(2 * rounds):
        shown.append(editor(shown[-1]))
    return [round_of(*shown[2 * n : 2 * n + 3]) for n in range(rounds)]


@pytest.mark.parametrize("name", NAMES)
def test_doing_nothing_is_never_applied(name):
    forward, undo = round_of(picture(name), picture(name), picture(name))
    assert (forward["changed"], forward["region_share"]) == (0, 0)
    assert undo["undone"] == "not_changed"


@pytest.mark.parametrize("name", NAMES)
def test_compression_noise_and_softening_are_no_edit(name):
    start = look(picture(name))
    decayed = [jpeg(picture(name), quality) for quality in (30, 50, 75, 95)]
    for _ in range(5):
        decayed.append(jpeg(decayed[-1], 30))
    decayed += [noisy(picture(name), sigma) for sigma in (5, 15, 30)]
    decayed += [
        cv2.GaussianBlur(picture(name), (0, 0), 2),
        shifted(picture(name), 4),
        stretched(picture(name), 1.1),
    ]
    assert [_judge_forward(start, look(shown), small=True)["changed"] for shown in decayed] == [0] * len(decayed)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("editor", [stretched, shifted], ids=["contrast stretch", "shift by 16 pixels"])
def test_a_stretch_or_a_shift_is_never_both_applied_and_undone(name, editor):
    for forward, undo in chain_of(picture(name), editor, rounds=3):
        assert (forward["changed"], undo["undone"]) != (1, 1)


@pytest.mark.parametrize("size", [0.04, 0.1, 0.25])
@pytest.mark.parametrize("colour", [(220, 30, 40), (20, 60, 200), (250, 250, 250)])
@pytest.mark.parametrize("name", ["coffee", "chelsea"])
def test_a_disc_is_found_applied_and_its_removal_is_found_undone(name, colour, size):
    before, forward, back = painted(name, (0.3, 0.7), size, colour)
    worn = [before, jpeg(noisy(forward, 4), 80), jpeg(noisy(back, 4, 1), 60)]
    first, second = round_of(*worn)
    expected = np.pi * size**2 * min(before.shape[:2]) / max(before.shape[:2])
    contrast = np.linalg.norm(look(before) - look(forward), axis=2).max()
    assert contrast > 20  # the test's own: the disc can be seen
    assert first["changed"] == 1
    assert first["region_share"] == pytest.approx(expected, rel=0.5)
    assert (second["undone"], second["undo_ratio"] < 0.5) == (1, True)
    assert round_of(worn[0], worn[1], worn[1])[1]["undone"] == 0


def test_thin_glasses_are_found_if_small_changes_count():
    before = picture("astronaut")
    forward = before.copy()
    for x in (208, 248):
        cv2.circle(forward, (x, 105), 15, (10, 10, 10), 3)
    looks = [look(before), look(forward), look(before)]
    assert 0.001 < find_edit(*looks[:2])[1].mean() < 0.02
    made, back = round_of(before, forward, before, small=True)
    assert (made["changed"], back["undone"]) == (1, 1)
    tiny = before.copy()
    cv2.circle(tiny, (228, 105), 12, (10, 10, 10), 4)
    assert _judge_forward(looks[0], look(tiny), small=True)["changed"] == 1
    assert _judge_forward(looks[0], look(tiny), small=False)["changed"] == 0


def test_removing_half_of_a_thing_does_not_undo_it():
    before, forward, _ = painted("chelsea", (0.3, 0.7), 0.12, (20, 60, 200))
    half = before.copy()
    column = int(0.3 * before.shape[1]) - 5
    half[:, :column] = forward[:, :column]
    left = before.copy()
    left[:, : column - 30] = forward[:, : column - 30]
    wholly, mostly = (round_of(before, forward, shown)[1] for shown in (half, left))
    assert 0.3 < wholly["undo_ratio"] < 0.6
    assert mostly["undo_ratio"] < wholly["undo_ratio"]
    assert mostly["undone"] == 1


MONOCHROME = ("turn the image monochrome", "color the monochrome image")


def faded(shown, share):
    """The picture with this share of its colour."""
    grey = cv2.cvtColor(shown, cv2.COLOR_RGB2GRAY)[..., None]
    return np.rint(grey + share * (shown.astype(float) - grey)).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("name", ["astronaut", "coffee", "rocket"])
def test_a_pale_picture_can_be_made_monochrome(name):
    before = faded(picture(name), 0.3)
    grey = faded(before, 0)
    assert find_edit(look(before), look(grey), limit=6)[1].mean() < 0.003, "this picture is no case for it"
    made, back = round_of(before, grey, before, cycle=MONOCHROME)
    assert (made["changed"], back["undone"], back["colour_shift"]) == (1, 1, "no_source")
    assert round_of(before, grey, faded(before, 0.3), cycle=MONOCHROME)[1]["undone"] == 0
    for worn in (before, jpeg(before, 40), noisy(before, 12), faded(before, 0.7)):
        assert round_of(before, worn, before, cycle=MONOCHROME)[0]["changed"] == 0


def tinted(shown, share, colour=(40, 170, 60)):
    return np.rint(shown * (1 - share) + share * np.array(colour)).astype(np.uint8)


@pytest.mark.parametrize("name", NAMES)
def test_a_faint_tint_is_an_edit_only_if_asked_for(name):
    words = ("make the whole picture a little greener", "take the green tint away")
    before = picture(name)
    green = tinted(before, 0.1)
    made, back = round_of(before, green, jpeg(before, 60), cycle=words)
    assert (made["changed"], back["undone"]) == (1, 1)
    assert round_of(before, green, green, cycle=words)[1]["undone"] == 0
    for worn in (before, jpeg(before, 40), noisy(before, 12), tinted(before, 0.1, (190, 60, 170))):
        assert round_of(before, worn, before, cycle=words)[0]["changed"] == 0
    assert round_of(before, green, before)[0]["changed"] == 0, "a tint is no thing"


@pytest.mark.parametrize("shape", [(64, 64), (90, 700), (1, 1), (3, 500), (1024, 800)])
def test_any_size_is_compared_with_any_other(shape):
    shown = cv2.resize(picture("coffee"), shape[::-1], interpolation=cv2.INTER_AREA)
    assert find_edit(look(shown), look(shown))[1].mean() == 0
    assert 0 <= find_edit(look(shown), look(picture("coffee")))[1].mean() <= 1


def test_a_round_of_another_shape_is_judged():
    before, forward, back = (
        cv2.resize(shown, (500, 700)) for shown in painted("coffee", (0.5, 0.5), 0.2, (220, 30, 40))
    )
    undo = round_of(before, forward, back, source=seen(picture("coffee")))[1]
    assert undo["undo_ratio"] < 0.4


TURNS = ("flip horizontally", "flip vertically", "rotate 90", "rotate 180", "rotate 270")


@pytest.mark.parametrize("name", ["astronaut", "coffee", "gravel"])
def test_the_oracle_tells_all_flips_and_rotations_apart(name):
    start = look(picture(name))
    for number, done in enumerate(("none", *TURNS)):
        exact = np.ascontiguousarray(TRANSFORMS[done](picture(name)))
        decayed = (
            exact,
            jpeg(exact, 30),
            noisy(exact, 25),
            cv2.GaussianBlur(exact, (0, 0), 3),
            shifted(exact, 8),
        )
        seen = look(decayed[number % len(decayed)])
        assert [find_transform(start, seen, {asked})[0] == asked for asked in TURNS] == [
            asked == done for asked in TURNS
        ]


def test_what_the_picture_cannot_tell_is_null():
    half, flips = picture("coffee")[:, :300], ("flip horizontally", "flip horizontally")
    symmetric = np.ascontiguousarray(np.hstack([half, half[:, ::-1]]))
    for shown, cycle, code in ((symmetric, flips, "symmetric"), (faded(half, 0), MONOCHROME, "already_so")):
        forward, undo = round_of(shown, shown, shown, cycle=cycle)
        assert forward["changed"] == undo["undone"] == code


def test_four_rotations_close_and_one_left_out_shows():
    cycle = ("rotate the image by 90 degrees clockwise",) * 4
    turned = [np.ascontiguousarray(np.rot90(picture("coffee"), -n)) for n in range(5)]
    steps = round_of(*turned, cycle=cycle)
    assert [step["changed"] for step in steps] == [1, 1, 1, "not_a_forward"]
    assert steps[3]["undone"] == 1
    skipped = round_of(*turned[:2], turned[1], *turned[2:4], cycle=cycle)
    assert [step["changed"] for step in skipped] == [1, 0, 1, "not_a_forward"]
    assert skipped[3]["undone"] == "not_changed"


WORDS = {
    "flip horizontally": {"flip horizontally"},
    "Mirror the image.": {"flip horizontally"},
    "Flip the whole picture vertically": {"flip vertically"},
    "Rotate the image by 90 degrees clockwise.": {"rotate 90"},
    "rotate it 90 degrees counter-clockwise": {"rotate 270"},
    "rotate by 270 degrees anticlockwise": {"rotate 90"},
    "rotate 90 degrees": {"rotate 90", "rotate 270"},
    "Please rotate the photo by 180 degrees": {"rotate 180"},
    "turn the picture upside down": {"rotate 180"},
    "add a mirror": set(),
    "flip the pancake": set(),
    "turn the image monochrome": set(),
    "turn the light on": set(),
}


@pytest.mark.parametrize(("instruction", "transforms"), WORDS.items())
def test_the_words_say_which_transform_is_asked_for(instruction, transforms):
    assert asked_transforms(instruction) == transforms


def two_things(first=(0.25, 0.3), second=(0.75, 0.7)):
    """The picture, with A, with both, with B alone."""
    before = picture("coffee")
    shown = [before]
    for things in ((first,), (first, second), (second,)):
        one = before.copy()
        for place in things:
            colour = (220, 30, 40) if place == first else (20, 60, 200)
            cv2.circle(one, (int(place[0] * 600), int(place[1] * 400)), 45, colour, -1)
        shown.append(one)
    return shown


NESTED = ("add a ball", "add a hat", "remove the hat", "remove the ball")
CROSSED = ("add a ball", "add a hat", "remove the ball", "remove the hat")


def test_in_a_cross_edit_each_undo_is_held_to_its_own_edit():
    before, ball, both, hat = two_things()
    for cycle, third, wrong in ((NESTED, ball, hat), (CROSSED, hat, ball)):
        steps = round_of(before, ball, both, third, before, cycle=cycle)
        assert [step["changed"] for step in steps[:2]] == [1, 1]
        assert [step["undone"] for step in steps[2:]] == [1, 1]
        assert round_of(before, ball, both, wrong, cycle=cycle)[2]["undone"] == 0
        assert round_of(before, ball, both, third, third, cycle=cycle)[3]["undone"] == 0


def test_an_undo_under_another_edit_is_null():
    before, ball, both, hat = two_things((0.5, 0.5), (0.52, 0.5))
    undo = round_of(before, ball, both, hat, cycle=CROSSED)[2]
    assert undo["undone"] == "overlap"


def test_a_replica_and_a_missing_picture_are_null_with_a_reason():
    before = picture("coffee")
    replica = round_of(before, before, cycle=("Produce an exact replica.",))[0]
    missing = judge_step(CYCLE, True, 2, [seen(before), None, seen(before)])
    null = {"no_change": replica, "round_incomplete": missing}
    for code, judged in null.items():
        assert all(
            judged[name] == code for name in ("changed", "as_asked", "region_share", "undone", "undo_ratio")
        )


def test_a_program_that_only_adds_has_forwards_only():
    before, one, both, _ = two_things()
    steps = [round_of(*pair, cycle=("add {item}",), closes=False)[0] for pair in ((before, one), (one, both))]
    assert [step["changed"] for step in steps] == [1, 1]
    assert steps[0]["undone"] == "not_an_undo"
    assert {role.kind for role in roles(("add a", "add b"), closes=False)} == {"forward"}


def test_meaning_has_to_agree_with_the_pixels():
    before, forward, back = painted("chelsea", (0.3, 0.7), 0.12, (20, 60, 200))
    words = np.array([0.0, 1.0, 0.0])
    plain, shown = np.array([1.0, 0.2, 0.0]), np.array([1.0, 0.6, 0.1])
    near, far = cosine(shown, words), cosine(plain, words)
    steps = round_of(before, forward, back, meaning=[far, near, far])
    assert (steps[0]["changed"], steps[1]["undone"]) == (1, 1)
    assert round_of(before, forward, back, meaning=[near, far, near])[0]["as_asked"] == 0


def test_the_module_gives_means_and_a_reason_for_every_null(tmp_path):
    before = picture("astronaut")
    balled = before.copy()
    balled[60:160, 300:400] = (220, 30, 40)
    metric = EditApplied(cache_dir=str(tmp_path))
    result = metric.compute(
        predictions=[balled, before], references=[before] * 2, returns=[before] * 2, small=True
    )
    assert (result["changed"], result["undone"]) == (0.5, 1)
    assert result["undo_ratio_values"] == [0, None]
    assert set(result["reasons"][1]) == {"as_asked", "undone", "undo_ratio", "undo_explained"}
    assert result["signature"].startswith("edit_applied/6 ")
    given = {"predictions": [np.ascontiguousarray(before[:, ::-1])], "references": [before], "returns": [before]}
    flipped = metric.compute(**given, cycle=["flip horizontally", "flip it back"])
    assert (flipped["changed"], flipped["as_asked"], flipped["undone"], flipped["region_share"]) == (
        1,
        1,
        1,
        None,
    )
    with pytest.raises(ValueError, match="give two instructions"):
        EditApplied(cache_dir=str(tmp_path)).compute(**given, cycle="flip")


def test_a_named_colour_can_refute_an_addition_but_not_prove_it():
    before = picture("astronaut")
    red, small_red = before.copy(), before.copy()
    red[60:160, 300:400], small_red[60:64, 300:304] = (220, 30, 40), (220, 30, 40)
    asked = {words: round_of(before, red, before, cycle=(words, "undo"))[0] for words in (
        "add a red ball", "add a green ball", "add a ball", "make the ball green", "add a red and green ball"
    )}  # fmt: skip
    found = {words: (step["as_asked"], step["asked_by"]) for words, step in asked.items()}
    nothing = ("words_not_checked",) * 2
    assert found == {
        "add a red ball": ("words_not_checked", {"colour": True}),
        "add a green ball": (0, {"colour": False}),
        "add a ball": nothing,
        "make the ball green": nothing,
        "add a red and green ball": nothing,
    }
    assert all(step["changed"] == 1 for step in asked.values())


def test_a_reframed_return_is_aligned_before_it_is_judged():
    before = cv2.resize(picture("astronaut"), (512, 512), interpolation=cv2.INTER_AREA)
    forward = before.copy()
    forward[150:250, 330:430] = (220, 30, 40)
    matrix = cv2.getRotationMatrix2D((255.5, 255.5), 0, 1.08) + np.array([[0, 0, 8], [0, 0, -6]])
    back = cv2.warpAffine(before, matrix, (512, 512), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    shown = [seen(picture) for picture in (before, forward, back)]
    raw, laid = (
        judge_step(CYCLE, True, 2, shown, source=shown[0], placement=place)
        for place in (None, (8 / 512, -6 / 512, 1.08))
    )
    assert laid["undone"] == 1
    assert laid["undo_ratio"] < raw["undo_ratio"] / 2


def test_the_colours_of_the_whole_picture_are_measured():
    before = picture("coffee")
    shifts = []
    for blue in (1, 0.9, 0.4):
        after = np.clip(before * [1, 1, blue], 0, 255).astype(np.uint8)
        shown = [seen(before), seen(after)]
        shifts.append(judge_step(("copy it",), True, 1, shown, source=shown[0])["colour_shift"])
    assert shifts[0] < 1 < shifts[1] < COLOUR.limit < shifts[2]
    assert judge_step(CYCLE, True, 1, shown, source=shown[0])["colour_shift"] == "not_a_return"
