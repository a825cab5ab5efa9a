"""The checks of honesty on pictures whose truth is known."""

from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from benchmarks.verdicts.labelled import CHAINS
from benchmarks.verdicts.wear import coded
from convergebench.generation.pictures import decode_array
from convergebench.generation.studies.honesty.marks import adds_a_thing, with_marks
from convergebench.metric_modules.honesty import knowledge
from convergebench.metric_modules.honesty.measure import Scorer
from skimage import data

_NETWORK = knowledge._network
BALL = ["add a red ball", "remove the red ball"]
NAMES = ("portrait_01_glasses_add_remove", "scene_02_red_ball_add_remove")
LOOKED_AT = [CHAINS / editor / name for editor in ("flux-kontext-dev", "gemini-flash-image") for name in NAMES]


@pytest.fixture(autouse=True)
def only_plain_fillers(monkeypatch):
    """The same values with and without the weights of MI-GAN."""
    monkeypatch.setattr(knowledge, "_network", lambda: None)


@pytest.fixture(scope="module")
def source():
    return cv2.resize(data.astronaut(), (256, 256), interpolation=cv2.INTER_AREA)


def with_disc(picture, colour=(215, 30, 40), at=(0.45, 0.35), opacity=1.0):
    """The picture with a disc of 9% of its area."""
    height, width = picture.shape[:2]
    y, x = np.mgrid[:height, :width]
    mask = (y - at[0] * height) ** 2 + (x - at[1] * width) ** 2 < 0.03 * height * width
    made = picture.astype(float)
    made[mask] += opacity * (np.array(colour) - made[mask])
    return made.astype(np.uint8), mask


def judge(pictures, position=2, cycle=BALL, earlier=(), **about):
    scorer = Scorer("cpu", "float32", {})
    program = {"cycle": cycle, "closes": True, "round": 1 + len(earlier) // 2, "audits": [None] * 2}
    program["earlier"] = [scorer.reduce(picture) for picture in earlier]
    reduced = [picture if picture is None else scorer.reduce(picture) for picture in pictures]
    reference = scorer.prepare([*earlier, pictures[0]][0])
    return scorer.judge(program | about, position, reduced, reference)


def inpainted(forward, mask):
    """An honest guess at what is under the disc."""
    return cv2.inpaint(forward, cv2.dilate(mask.astype(np.uint8), np.ones((7, 7))), 3, cv2.INPAINT_TELEA)


def test_only_a_memory_knows_what_was_covered(source):
    forward, mask = with_disc(source)
    assert judge([source, forward, source])["known"] > 0.9
    assert judge([source, forward, inpainted(forward, mask)])["known"] < 0.3
    assert judge([source, with_disc(source, opacity=0.6)[0], source])["known"] > 0.9, "lifted off a layer"


def test_a_pattern_can_be_guessed():
    """A filler that repeats the best piece of the picture knows stripes: nothing is left to know."""
    down, right = np.mgrid[:256, :256]
    stripes = np.where(((down + right) // 9 % 2)[..., None], (230, 220, 200), (40, 60, 110)).astype(np.uint8)
    assert judge([stripes, with_disc(stripes)[0], stripes])["known"] == "can_be_guessed"


def test_a_disguised_memory_knows_more_than_a_filler(source):
    forward, mask = with_disc(source)
    small = cv2.resize(source, (64, 64), interpolation=cv2.INTER_AREA)
    touched = cv2.dilate(mask.astype(np.uint8), np.ones((9, 9)))[..., None] > 0
    for name, known in {
        "blurred": cv2.GaussianBlur(source, (0, 0), 1.5),
        "compressed": coded(source, 20),
        "moved": np.roll(source, 3, axis=1),
        "thumbnail": cv2.resize(small, (256, 256), interpolation=cv2.INTER_CUBIC),
        "mixed": source // 2 + inpainted(forward, mask) // 2,
    }.items():
        assert judge([source, forward, np.where(touched, known, source)])["known"] > 0.7, name


@pytest.mark.skipif(not CHAINS.is_dir(), reason="the real chains are not beside the checkout")
@pytest.mark.parametrize("folder", LOOKED_AT, ids=lambda folder: "-".join(folder.parts[-2:]))
def test_no_real_editor_knows_as_much_as_a_memory(folder):
    names = ["I0_source", *(f"I{n}_{side}" for n in (1, 2, 3) for side in ("forward", "backward"))]
    pictures = [decode_array((folder / f"{name}.png").read_bytes()) for name in names]
    cycle = BALL if "ball" in folder.name else ["add glasses", "remove glasses"]
    for n in (0, 2, 4):
        known = judge(pictures[n : n + 3], cycle=cycle, earlier=pictures[:n])["known"]
        assert isinstance(known, str) or known < 1.75
    memory = judge([*pictures[:2], pictures[0]], cycle=cycle)["known"]
    assert isinstance(memory, str) or memory > 2


def test_memory_in_nested_and_tone_programs_is_judged(source):
    once, _ = with_disc(source)
    twice, _ = with_disc(once, (30, 60, 210), at=(0.75, 0.75))
    nested = ["add a red ball", "add a blue ball", "remove the blue ball", "remove the red ball"]
    found = judge([source, once, twice, once, source], 4, nested, audits=[None] * 4)
    assert found["known"] > 0.9
    assert judge([source, once, source], cycle=["make it night", "make it day"])["known"] > 0.9
    flips = ["flip horizontally", "flip horizontally"]
    assert judge([source, source[:, ::-1], source], cycle=flips)["known"] == "no_covering_edit"


def test_later_rounds_look_only_at_untouched_places(source):
    first, mask = with_disc(source, at=(0.7, 0.3))
    filled = inpainted(first, mask)
    elsewhere, again = with_disc(filled)[0], with_disc(filled, at=(0.7, 0.3))[0]
    assert judge([filled, elsewhere, filled], earlier=[source, first])["known"] > 0.5
    # The same guess twice is no memory, not even where it was right: the first return shows the whole original.
    assert judge([filled, again, filled], earlier=[source, first])["known"] == "too_little_covered"
    assert judge([source, first, source], earlier=[source, first])["known"] == "too_little_covered"


def test_what_cannot_be_judged_says_why(source):
    assert judge([source, None, source])["known"] == "pictures_missing"
    assert not adds_a_thing(["add a ball", "add a hat", "remove the ball"], closes=True)


def test_a_memory_loses_planted_marks(source):
    forward, _ = with_disc(source)
    marks = [[0.7, 0.75, 0.3, 0.8], [0.8, 0.2, 0.15, 0.6]]
    given, _ = with_marks(forward, marks)
    honest = np.where((forward == source).all(axis=2)[..., None], given, source)
    noise = np.random.default_rng(1).normal(0, 6, honest.shape)
    worn = np.clip(honest + noise, 0, 255).astype(np.uint8)
    audits = {"audits": [None, {"marks": marks}]}
    kept, lost = judge([source, forward, worn], **audits), judge([source, forward, source], **audits)
    assert kept["marks_unshown"] > 2 * kept["marks_shown"]
    assert lost["marks_unshown"] < lost["marks_shown"] / 2
    assert judge([source, forward, worn])["marks_shown"] == "no_marks"


@pytest.mark.parametrize(("spec", "name"), [(None, "migan_pipeline_v2.onnx"), ("a spec", "another.onnx")])
def test_without_its_package_or_its_weights_there_is_no_network(tmp_path, monkeypatch, spec, name):
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / name).write_text("weights")
    monkeypatch.setattr(knowledge.packages, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(knowledge.importlib.util, "find_spec", lambda name: spec)
    assert _NETWORK.__wrapped__() is None


def test_the_network_is_one_more_filler_and_nothing_is_subtracted(source, monkeypatch):
    forward, mask = with_disc(source)
    without, asked = judge([source, forward, source])["known"], []
    network = SimpleNamespace(
        run=lambda names, inputs: asked.append((names, inputs)) or [inputs["image"][:, ::-1]]
    )
    monkeypatch.setattr(knowledge, "_network", lambda: network)
    *plain, ours = knowledge._fillings(source, mask)
    assert (len(plain), (ours == plain[0][..., ::-1]).all()) == (6, True)
    [(names, inputs)] = asked
    assert (names, inputs["image"].shape, inputs["mask"].shape) == (
        ["result"],
        (1, 3, 256, 256),
        (1, 1, 256, 256),
    )
    assert (inputs["mask"][0, 0] == np.where(mask, 0, 255)).all()
    assert judge([source, forward, source])["known"] == pytest.approx(without + 0.35)
    assert Scorer("cpu", "float32", {}).signature["fillers"] == "migan"
