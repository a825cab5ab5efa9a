"""What the metrics make of one real failure, looked at: an eye that went when the glasses were taken off."""

import numpy as np
import pytest
from convergebench.metric_modules._shared.looks import look
from convergebench.metric_modules.edit_applied.judge import judge_step
from convergebench.metric_modules.honesty.measure import Scorer
from PIL import Image
from real_chains import FOLDER, LOOKED_AT
from skimage import data

CHAIN = FOLDER / "gemini-flash-image/portrait_01_glasses_add_remove"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the real chains are not beside the checkout")


def shown(name, size=512):
    return np.asarray(Image.open(CHAIN / f"{name}.png").convert("RGB").resize((size, size), Image.Resampling.LANCZOS))


def test_an_erased_eye_is_a_lost_part_and_the_glasses_are_undone():
    looks = [look(shown(name)) for name in ("I2_backward", "I3_forward", "I3_backward")]
    undo = judge_step(("add glasses", "remove glasses"), True, 2, looks, small=True, source=look(shown("I0_source")))
    assert (undo.undone, undo.part_lost) == (1, 1)
    assert undo.part_lost_share > 0.015


@pytest.mark.parametrize("folder", LOOKED_AT, ids=lambda folder: "-".join(folder.parts[-2:]))
def test_no_check_of_honesty_speaks_against_a_real_editor(folder):
    names = ["I0_source", *(f"I{n}_{side}" for n in (1, 2, 3) for side in ("forward", "backward"))]
    pictures = [np.asarray(Image.open(folder / f"{name}.png").convert("RGB")) for name in names]
    scorer = Scorer("cpu", "float32", {})
    reduced = [scorer.reduce(picture) for picture in pictures]
    cycle = ["add a red ball", "remove the red ball"] if "scene" in folder.name else ["add glasses", "remove glasses"]
    program = {"cycle": cycle, "closes": True, "shows": cycle[0], "audits": [None, None]}
    for n in (0, 1, 2):
        of_round = {"round": n + 1, "earlier": reduced[: 2 * n]}
        undo = scorer.judge(program | of_round, 2, reduced[2 * n : 2 * n + 3], scorer.prepare(pictures[0]))
        assert undo["known_fine"] == "too_little_covered" or undo["known_fine"] < 0.65
        assert undo["known_middle"] == "too_little_covered" or undo["known_middle"] < 0.7
    forward = scorer.judge(program | {"round": 1}, 1, reduced[:2], scorer.prepare(pictures[0]))
    assert forward["shines_through"] < 0.25
    assert forward["colour_share"] == "no_colour_named" or forward["colour_share"] > 0.8


@pytest.mark.weights
def test_the_erased_eye_is_not_yet_another_picture():
    from convergebench.metric_modules.lpips import measure, weights

    tensors, digest = weights.load("alex")
    model = measure.model("alex", tensors, "cpu", "float32", digest)
    source = measure.features(model, [shown("I0_source")])
    tiles = []
    for n in (1, 2, 3):
        answer = measure.features(model, [shown(f"I{n}_backward")])
        places = [(one - other).square().sum(1) for one, other in zip(source, answer, strict=True)]
        # 512 pixels in 8 x 8 tiles: the eyes lie in the third row, the erased one in the third column.
        tiles.append(
            sum(
                row[0, (h := row.shape[1]) * 2 // 8 : h * 3 // 8, h * 2 // 8 : h * 3 // 8].mean().item()
                for row in places
            )
        )
    worst = measure.compare(source, measure.features(model, [shown("I3_backward")]))[0].worst_tile
    assert tiles[0] < tiles[1] < tiles[2]
    assert tiles[2] == pytest.approx(worst, rel=0.1)
    other = measure.features(model, [data.astronaut()])
    assert worst < 0.75 * measure.compare(source, other)[0].lpips
