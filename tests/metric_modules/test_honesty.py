"""The checks of honesty on pictures whose truth is known."""

from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from benchmarks.verdicts.labelled import CHAINS
from benchmarks.verdicts.wear import coded
from convergebench.generation.pictures import decode_array
from convergebench.generation.studies.honesty.marks import adds_a_thing
from convergebench.metric_modules.honesty import knowledge
from convergebench.metric_modules.honesty.measure import Scorer
from skimage import data
from test_kept_numbers import disc

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


def with_disc(picture, opacity=1.0):
    """The picture with a disc of 9% of its area, and where that is."""
    made = disc(picture, (215, 30, 40), (0.45, 0.35), 0.03**0.5, opacity)
    return made, (made != picture).any(axis=2)


def judge(pictures, cycle=BALL, earlier=()):
    scorer = Scorer("cpu", "float32", {})
    program = {"cycle": cycle, "closes": True, "round": 1 + len(earlier) // 2, "audits": [None] * 2}
    program["earlier"] = [scorer.reduce(picture) for picture in earlier]
    reference = scorer.prepare([*earlier, pictures[0]][0])
    return scorer.judge(program, 2, [scorer.reduce(picture) for picture in pictures], reference)


def inpainted(forward, mask):
    """An honest guess at what is under the disc."""
    return cv2.inpaint(forward, cv2.dilate(mask.astype(np.uint8), np.ones((7, 7))), 3, cv2.INPAINT_TELEA)


def test_only_a_memory_knows_what_was_covered(source):
    forward, mask = with_disc(source)
    assert judge([source, forward, source])["known"] > 0.9
    assert judge([source, forward, inpainted(forward, mask)])["known"] < 0.3
    assert judge([source, with_disc(source, opacity=0.6)[0], source])["known"] > 0.9, "lifted off a layer"
    flips = ["flip horizontally", "flip horizontally"]
    assert judge([source, source[:, ::-1], source], cycle=flips)["known"] == "no_covering_edit"
    assert not adds_a_thing(["add a ball", "add a hat", "remove the ball"], closes=True)


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
