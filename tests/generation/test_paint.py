"""The embedded editor that carries out instructions: what it understands, draws, finds again and takes away."""

import itertools

import numpy
import pytest
import skimage.data
from convergebench.generation import editors, pictures, programs
from convergebench.generation.editors.paint import drawing
from convergebench.generation.editors.paint.instructions import Request, parse
from convergebench.generation.loop import prepare
from convergebench.generation.sources import synthetic
from PIL import Image
from skimage.metrics import structural_similarity

THINGS = drawing.all_things()
SMALL = ("glasses", "earrings", "monocle", "eye patch", "mustache")


@pytest.fixture(scope="module")
def portrait():
    return prepare(Image.fromarray(skimage.data.astronaut()), 384)


@pytest.fixture(scope="module")
def scene():
    return synthetic.make("gradient", (400, 320), 3)


def edit(picture, instruction, seed=1, spec="paint:wear=0"):
    answer = editors.choose(spec).editor.edit(picture, instruction, seed)
    assert answer.status == "ok", answer.reason
    return pictures.decode(answer.data)


def values(picture):
    return numpy.asarray(picture, float)


def changed(before, after, by=24):
    """Where two pictures differ clearly."""
    return abs(values(before) - values(after)).max(2) > by


@pytest.mark.parametrize(
    ("instruction", "request_"),
    [
        ("add glasses", Request("add", "glasses")),
        ("Please put a pair of sunglasses on her", Request("add", "sunglasses")),
        ("take the hat off", Request("remove", "hat")),
        ("add a chair on the left", Request("add", "chair", side="left")),
        ("add a red ball", Request("add", "ball", "red")),
        ("add an orange ball", Request("add", "ball", "orange")),
        ("Add an orange to the table.", Request("add", "orange")),
        ("add a gray cat to the right side", Request("add", "cat", "grey", "right")),
        ("remove the white flower from the hair", Request("remove", "flower in the hair", "white")),
        ("flip horizontally", Request("flip", side="horizontal")),
        ("Mirror the image vertically", Request("flip", side="vertical")),
        ("rotate 90° clockwise", Request("turn", amount=1)),
        ("rotate 90° counter-clockwise", Request("turn", amount=3)),
        ("rotate the picture by 180 degrees", Request("turn", amount=2)),
        ("turn the image black and white", Request("tone", "grey")),
        ("color the monochrome image", Request("tone", "colour")),
        ("make the light warmer", Request("tone", "warmer")),
        ("sharpen the blurred image", Request("tone", "sharpen")),
        ("Produce an exact replica of the provided image, with no alterations.", Request("copy")),
        ("Produce an exact replica, and remove any noise and artifacts.", Request("copy", "denoise")),
        ("add something nice", None),
        ("remove the elephant", None),
        ("rotate 90 degrees", None),
        ("", None),
    ],
)
def test_an_instruction_is_understood_whatever_its_wording(instruction, request_):
    assert parse(instruction) == request_


# Words and backgrounds take an editor that reads and cuts out; paint draws what else the suites ask.
DRAWN = [each for each in programs.load().values() if each.id not in ("open-and-closed", "background-and-back")]


def test_every_instruction_of_the_suites_is_understood():
    for program in DRAWN:
        asked = [text.replace("{item}", item) for text in program.cycle for item in program.items or ("",)]
        assert [text for text in asked if parse(text) is None] == [], program.id


@pytest.mark.parametrize("id", ["recolour-by-name", "recolour-by-hex", "ball-by-degrees", "greener-by-degrees"])
def test_what_people_ask_for_step_by_step_is_made_and_taken_back(id):
    answers = [Image.fromarray(skimage.data.coffee()).resize((384, 256))]
    for words in programs.get(id).cycle:
        answers.append(edit(answers[-1], words, 3))
    shown = [values(answer) for answer in answers]
    gaps = [abs(picture - shown[0]).mean() for picture in shown]
    assert abs(shown[2] - shown[1]).mean() > 0.3
    assert gaps[-1] <= 0.45 < min(gaps[1:3])
    if id.startswith("recolour"):
        changed = abs(shown[2] - shown[1]).sum(2) > 150
        gain = (shown[2] - shown[1])[changed].mean(0)
        assert gain[2] > 60 > -60 > gain[0]  # from red to blue
    if id == "ball-by-degrees":
        columns = [abs(shown[place] - shown[0]).sum((0, 2)) for place in (1, 2)]
        first, second = (numpy.average(numpy.arange(384), weights=column) for column in columns)
        assert second < first - 10
    if id == "greener-by-degrees":
        green = [picture[..., 1].mean() - picture[..., ::2].mean() for picture in shown]
        assert green[0] < green[1] < green[2] > green[3] > green[4] - 1


def test_every_thing_answers_to_its_names():
    for name, thing in THINGS.items():
        for word in (name, *thing.words):
            assert parse(f"add a {word}") == Request("add", name), word
            assert parse(f"remove the {word}") == Request("remove", name), word
        assert set(thing.colours) <= set(drawing.COLOURS)


def test_an_unknown_instruction_is_refused_with_a_reason(scene):
    for instruction, about in (("paint a sunrise over Rome", "sunrise over Rome"), ("remove the hat", "no hat")):
        answer = editors.choose("paint").editor.edit(scene, instruction, 1)
        assert (answer.status, answer.data) == ("refused", b"")
        assert about in answer.reason


def test_flips_and_turns_move_pixels_and_lose_none(portrait):
    source = numpy.asarray(portrait)
    expected = {
        "flip horizontally": source[:, ::-1],
        "flip vertically": source[::-1],
        "rotate 90° clockwise": numpy.rot90(source, -1),
        "rotate 90° counter-clockwise": numpy.rot90(source),
        "rotate 180 degrees": numpy.rot90(source, 2),
    }
    for instruction, wanted in expected.items():
        assert (numpy.asarray(edit(portrait, instruction, spec="paint")) == wanted).all(), instruction


@pytest.mark.parametrize("name", [thing.name for thing in THINGS.values() if thing.place == "worn"])
def test_a_worn_thing_is_visible_near_the_face_and_nowhere_else(name, portrait):
    mask = changed(portrait, edit(portrait, f"add a {name}"))
    assert mask.mean() > (0.001 if name in SMALL else 0.003)
    rows, columns = numpy.nonzero(mask)
    height, width = mask.shape
    assert rows.max() < 0.62 * height
    assert columns.min() > 0.2 * width
    assert columns.max() < 0.65 * width


@pytest.mark.parametrize("name", [t.name for t in THINGS.values() if t.place != "worn" and t.size >= 0.12])
def test_an_addition_to_a_scene_is_visible_and_local(name, scene):
    mask = changed(scene, edit(scene, f"add a {name}"))
    assert 0.005 < mask.mean() < 0.2


@pytest.mark.parametrize(("side", "low", "high"), [("left", 0, 0.5), ("middle", 0.2, 0.8), ("right", 0.5, 1)])
def test_an_addition_goes_to_the_side_that_was_asked_for(side, low, high, scene):
    for seed in range(4):
        columns = numpy.nonzero(changed(scene, edit(scene, f"add a chair on the {side}", seed)))[1] / scene.width
        assert low <= columns.min() <= columns.max() <= high


REMOVED = ("glasses", "hat", "earrings", "crown", "mustache")
CLEARED = ("ball", "chair", "plant", "lamp", "book", "umbrella", "bicycle", "clock", "cat", "bench")


@pytest.mark.parametrize("name", REMOVED + CLEARED)
def test_a_removal_undoes_more_than_half_of_the_addition(name, portrait, scene):
    before = portrait if name in REMOVED else scene
    forward = edit(before, f"add a {name}", 7, "paint")
    back = edit(forward, f"remove the {name}", 8, "paint")
    where = changed(before, forward, 40)
    left = abs(values(back) - values(before))[where].mean() / abs(values(forward) - values(before))[where].mean()
    assert left < 0.5


def test_a_removal_needs_only_the_picture(scene):
    forward = edit(scene, "add a chair on the left", 3)
    noise = numpy.random.default_rng(1).integers(-1, 2, values(forward).shape)
    for seen, start in (
        (numpy.asarray(forward)[:, ::-1], numpy.asarray(scene)[:, ::-1]),
        ((values(forward) + noise).clip(0, 255).astype(numpy.uint8), numpy.asarray(scene)),
    ):
        back = edit(Image.fromarray(numpy.ascontiguousarray(seen)), "remove the chair")
        assert abs(values(back) - start).mean() < abs(values(seen) - start).mean() / 2
    pink = edit(scene, "add a pink chair on the right", 2)  # found without its colour
    assert abs(values(edit(pink, "remove the chair")) - values(scene)).mean() < 2


def test_without_wear_nothing_changes_outside_the_addition(scene):
    same = numpy.asarray(edit(scene, "add a clock")) == numpy.asarray(scene)
    assert same.all(2).mean() > 0.85
    copied = edit(scene, "Produce an exact replica of the provided image.")
    assert (numpy.asarray(copied) == numpy.asarray(scene)).all()


def test_quality_falls_round_by_round(portrait):
    source, likeness = numpy.asarray(portrait), []
    picture = portrait
    for turn in range(6):
        picture = edit(picture, "add a red ball", 2 * turn, "paint")
        picture = edit(picture, "remove the red ball", 2 * turn + 1, "paint")
        likeness.append(structural_similarity(source, numpy.asarray(picture), channel_axis=2))
    assert all(later < earlier for earlier, later in itertools.pairwise(likeness))
    assert likeness[0] > 0.85
    assert 0.45 < likeness[-1] < 0.9


def test_opposite_tones_undo_each_other(portrait):
    source = values(portrait)
    grey = values(edit(portrait, "make it greyscale"))
    assert numpy.ptp(grey, axis=2).max() == 0
    restored = edit(Image.fromarray(grey.astype(numpy.uint8)), "restore the colours")
    assert numpy.ptp(values(restored), axis=2).mean() > 4
    for there, back in (
        ("make it warmer", "make it cooler"),
        ("make it darker", "make it brighter"),
        ("make it night", "make it day"),
        ("blur the image", "sharpen the image"),
    ):
        forward = edit(portrait, there)
        away = abs(values(forward) - source).mean()
        assert away > 3, there
        assert abs(values(edit(forward, back)) - source).mean() < 0.7 * away, back


def test_a_smile_is_drawn_at_the_mouth_and_taken_off_again(portrait, scene):
    smiling = edit(portrait, "make the person smile")
    again = edit(smiling, "give the person a neutral expression")
    assert changed(portrait, again, 60).sum() < 0.3 * changed(portrait, smiling, 60).sum()
    without = edit(portrait, "give the person a neutral expression")  # without a painted smile
    for picture, least in ((smiling, 200), (without, 40)):
        rows, _ = numpy.nonzero(changed(portrait, picture, 12))
        assert len(rows) > least
        assert rows.max() - rows.min() < 0.25 * portrait.height
    refused = editors.choose("paint").editor.edit(scene, "give the person a neutral expression", 1)
    assert (refused.status, "no face" in refused.reason) == ("refused", True)


def test_copying_and_denoising_takes_noise_away(portrait):
    noisy = edit(portrait, "", spec="noise:sigma=9")
    cleaned = edit(noisy, "Produce an exact replica of the provided image, and remove any noise.")
    source = values(portrait)
    assert abs(values(cleaned) - source).mean() < 0.85 * abs(values(noisy) - source).mean()


@pytest.mark.parametrize("size", [(64, 64), (40, 300), (300, 40), (33, 47)])
def test_small_pictures_never_break_the_editor(size):
    picture = synthetic.make("haze", size, 1)
    words = "add hat, remove hat, add a bench, remove the bench, blur the image, make it grey scale"
    for instruction in words.split(", "):
        answer = editors.choose("paint").editor.edit(picture, instruction, 1)
        assert answer.status in ("ok", "refused")
        assert answer.status == "refused" or pictures.decode(answer.data).size == size
