"""The editors that run here without weights: what each does to a picture, and that it does nothing else."""

import itertools

import cv2
import numpy
import pytest
import skimage.data
from convergebench.generation import editors, pictures
from convergebench.generation.records import Turn, UserError
from PIL import Image

FLOORS = ("blur", "identity", "jpeg", "noise", "random", "resize", "tint", "webp")
EMBEDDED = [name for name in editors.names() if editors.trait(editors.load(name), "embedded")]


@pytest.fixture(scope="module")
def coffee():
    return Image.fromarray(skimage.data.coffee()).resize((300, 200))


def ask(spec, picture, instruction="add hat", seed=5, history=None):
    editor = editors.choose(spec).editor
    if editors.trait(editor, "remembers"):
        return editor.edit(picture, instruction, seed, history or [Turn("", pictures.encode_png(picture))])
    return editor.edit(picture, instruction, seed)


def pixels(answer):
    assert answer.status == "ok", answer.reason
    return numpy.asarray(pictures.decode(answer.data), float)


def distance(spec, picture, **more):
    return float(numpy.square(pixels(ask(spec, picture, **more)) - numpy.asarray(picture, float)).mean() ** 0.5)


@pytest.mark.parametrize("name", EMBEDDED)
def test_an_embedded_editor_is_deterministic(name, coffee):
    first, second = (ask(name, coffee) for _ in range(2))
    assert first == second
    assert pictures.decode(first.data).size == coffee.size


@pytest.mark.parametrize("name", FLOORS)
def test_a_floor_damages_and_does_not_follow_instructions(name, coffee):
    assert ask(name, coffee, "flip horizontally").data == ask(name, coffee, "add hat").data


def test_random_answers_unrelated_pictures(coffee):
    answers = [pixels(ask("random", coffee, seed=seed)) for seed in range(8)]
    source = numpy.asarray(coffee, float)
    unrelated = [numpy.square(answer - source).mean() ** 0.5 for answer in answers]
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
    slight, heavy = (distance(spec, coffee, instruction=copy) for spec in (weak, strong))
    assert 0 < slight < heavy / 1.5


def test_each_floor_does_what_its_name_says(coffee):
    kinds = {name: pictures.sniff(ask(name, coffee).data) for name in ("jpeg", "webp", "noise")}
    assert kinds == {"jpeg": "jpg", "webp": "webp", "noise": "png"}
    assert distance("identity", coffee) == 0
    assert distance("noise:sigma=8", Image.new("RGB", (200, 200), "grey")) == pytest.approx(8, rel=0.05)
    source, blurred = numpy.asarray(coffee, float), pixels(ask("blur:radius=2", coffee))
    detail, left = (abs(cv2.Laplacian(values, cv2.CV_64F)).mean() for values in (source, blurred))
    assert left < detail / 2
    before, after = source.mean((0, 1)), pixels(ask("tint:strength=0.5", coffee)).mean((0, 1))
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
    alone = pixels(ask("oracle", coffee, "add headphones", seed=1))
    shaded = (glasses != start).any(2) & (both != glasses).any(2)
    assert shaded.sum() > 20
    assert numpy.median(abs(left - alone)[shaded].max(1)) <= 4  # a few pixels of its rim stay
