"""The editors that run here without weights: what each does to a picture, and that it does nothing else.

Paint carries out instructions: what it understands, draws, finds again and takes away.
"""

import itertools

import cv2
import numpy
import pytest
import skimage.data
from convergebench.generation import editors, pictures, programs
from convergebench.generation.editors.paint import drawing
from convergebench.generation.editors.paint.instructions import Request, parse
from convergebench.generation.loop import prepare
from convergebench.generation.records import Turn, UserError
from convergebench.generation.sources import synthetic
from PIL import Image
from skimage.metrics import structural_similarity

FLOORS = ("blur", "identity", "jpeg", "noise", "random", "resize", "tint", "webp")
EMBEDDED = [name for name in editors.names() if editors.trait(editors.load(name), "embedded")]
THINGS = drawing.all_things()
SMALL = ("glasses", "earrings", "monocle", "eye patch", "mustache")


@pytest.fixture(scope="module")
def coffee():
    return Image.fromarray(skimage.data.coffee()).resize((300, 200))


@pytest.fixture(scope="module")
def portrait():
    return prepare(Image.fromarray(skimage.data.astronaut()), 384)


@pytest.fixture(scope="module")
def scene():
    return synthetic.make("gradient", (400, 320), 3)


def ask(spec, picture, instruction="add hat", seed=5, history=None):
    editor = editors.choose(spec).editor
    if editors.trait(editor, "remembers"):
        return editor.edit(picture, instruction, seed, history or [Turn("", pictures.encode_png(picture))])
    return editor.edit(picture, instruction, seed)


def edit(picture, instruction="add hat", seed=1, spec="paint:wear=0"):
    answer = ask(spec, picture, instruction, seed)
    assert answer.status == "ok", answer.reason
    return pictures.decode(answer.data)


def values(picture):
    return numpy.asarray(picture, float)


def distance(spec, picture, instruction="add hat"):
    return float(numpy.square(values(edit(picture, instruction, spec=spec)) - values(picture)).mean() ** 0.5)


def changed(before, after, by=24):
    """Where two pictures differ clearly."""
    return abs(values(before) - values(after)).max(2) > by


@pytest.mark.parametrize("name", EMBEDDED)
def test_an_embedded_editor_is_deterministic(name, coffee):
    first, second = (ask(name, coffee) for _ in range(2))
    assert first == second
    assert pictures.decode(first.data).size == coffee.size
    if name in FLOORS:  # which follow no instructions
        assert ask(name, coffee, "flip horizontally").data == first.data


def test_random_answers_unrelated_pictures(coffee):
    answers = [values(edit(coffee, seed=seed, spec="random")) for seed in range(8)]
    unrelated = [numpy.square(answer - values(coffee)).mean() ** 0.5 for answer in answers]
    apart = [numpy.square(a - b).mean() ** 0.5 for a, b in itertools.pairwise(answers)]
    assert min(unrelated) > 45
    assert min(apart) > 20


@pytest.mark.parametrize(
    ("weak", "strong"),
    [
        ("jpeg:quality=95", "jpeg:quality=20"),
        ("webp:quality=95", "webp:quality=20"),
        ("resize:scale=0.9", "resize:scale=0.3"),
        ("blur:radius=0.4", "blur:radius=3"),
        ("noise:sigma=2", "noise:sigma=20"),
        ("tint:strength=0.02", "tint:strength=0.3"),
        ("paint:wear=0.5", "paint:wear=2"),
    ],
)
def test_the_option_is_the_strength_of_the_damage(weak, strong, coffee):
    copy = "Produce an exact replica of the provided image, with no alterations."
    slight, heavy = (distance(spec, coffee, copy) for spec in (weak, strong))
    assert 0 < slight < heavy / 1.5


def test_each_floor_does_what_its_name_says(coffee):
    kinds = {name: pictures.sniff(ask(name, coffee).data) for name in ("jpeg", "webp", "noise")}
    assert kinds == {"jpeg": "jpg", "webp": "webp", "noise": "png"}
    assert distance("identity", coffee) == 0
    assert distance("noise:sigma=8", Image.new("RGB", (200, 200), "grey")) == pytest.approx(8, rel=0.05)
    blurred = edit(coffee, spec="blur:radius=2")
    detail, left = (abs(cv2.Laplacian(values(each), cv2.CV_64F)).mean() for each in (coffee, blurred))
    assert left < detail / 2
    before, after = (values(each).mean((0, 1)) for each in (coffee, edit(coffee, spec="tint:strength=0.5")))
    assert after[1] - after[[0, 2]].mean() > before[1] - before[[0, 2]].mean() + 10


@pytest.mark.parametrize(
    "spec",
    [
        "jpeg:quality=0", "jpeg:quality=101", "webp:quality=-1", "resize:scale=0", "resize:scale=nan", "blur:radius=0",
        "noise:sigma=-1", "noise:sigma=inf", "tint:strength=0", "tint:strength=2", "paint:wear=-1",
    ],
)  # fmt: skip
def test_an_option_out_of_range_is_refused_in_one_sentence(spec):
    name, value = spec.split("=")
    with pytest.raises(UserError, match=rf"^{name} must be .*, got {value}") as error:
        editors.choose(spec)
    assert "\n" not in str(error.value)


def chain(cycle, picture, rounds=2):
    """The oracle's answers, each asked for with the history of all before."""
    history = [Turn("", pictures.encode_png(picture))]
    for step in range(rounds * len(cycle)):
        now = pictures.decode(history[-1].data)
        answer = ask("oracle", now, cycle[step % len(cycle)], step, history)
        assert answer.status == "ok", answer.reason
        history.append(Turn(cycle[step % len(cycle)], answer.data))
    return [numpy.asarray(pictures.decode(turn.data)) for turn in history]


@pytest.mark.parametrize(
    "cycle",
    [
        ("add a red ball", "add a chair on the left", "remove the red ball", "remove the chair"),
        ("rotate 90° clockwise", "rotate 90° counter-clockwise"),
        ("add a red ball", "flip horizontally", "remove the red ball", "flip horizontally"),
    ],
)
def test_the_oracle_ends_every_round_exactly_where_it_began(cycle, coffee):
    steps = chain(cycle, coffee)
    for turn in range(0, len(steps), len(cycle)):
        assert (steps[turn] == steps[0]).all()
    for one, next_one in itertools.pairwise(steps):
        assert one.shape != next_one.shape or (one != next_one).any(), "a step changed nothing"


def test_the_oracle_removes_only_the_named_addition(coffee):
    cycle = ("add a red ball", "add a chair on the left", "remove the red ball", "remove the chair")
    start, ball, both, chair, _ = chain(cycle, coffee, rounds=1)
    assert ((chair != start).any(2) <= (both != ball).any(2)).all(), "more than the chair is left"
    assert (chair != start).any()
    cycle = ("add glasses", "add headphones", "remove glasses", "remove headphones")
    start, glasses, both, left, _ = chain(cycle, coffee, rounds=1)
    alone = values(edit(coffee, "add headphones", 1, "oracle"))
    shaded = (glasses != start).any(2) & (both != glasses).any(2)
    assert shaded.sum() > 20
    assert numpy.median(abs(left - alone)[shaded].max(1)) <= 4  # a few pixels of its rim stay


@pytest.mark.parametrize(
    ("instruction", "request_"),
    [
        ("Please put a pair of sunglasses on her", Request("add", "sunglasses")),
        ("take the hat off", Request("remove", "hat")),
        ("add a chair on the left", Request("add", "chair", side="left")),
        ("add a red ball", Request("add", "ball", "red")),
        ("add an orange ball", Request("add", "ball", "orange")),
        ("Add an orange to the table.", Request("add", "orange")),
        ("add a gray cat to the right side", Request("add", "cat", "grey", "right")),
        ("remove the white flower from the hair", Request("remove", "flower in the hair", "white")),
        ("Mirror the image vertically", Request("flip", side="vertical")),
        ("rotate the picture by 180 degrees", Request("turn", amount=2)),
        ("turn the image black and white", Request("tone", "grey")),
        ("color the monochrome image", Request("tone", "colour")),
        ("make the light warmer", Request("tone", "warmer")),
        ("sharpen the blurred image", Request("tone", "sharpen")),
        ("add something nice", None),
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
    added = edit(scene, f"add a {name}")
    assert 0.005 < changed(scene, added).mean() < 0.2
    assert (values(added) == values(scene)).all(2).mean() > 0.7, "nothing changes outside the addition"


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


def test_without_wear_a_copy_is_exact(scene):
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
