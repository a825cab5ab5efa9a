"""What the metrics make of one real failure, looked at: an eye that went when the glasses were taken off."""

import numpy as np
import pytest
from convergebench.metric_modules.honesty.measure import Scorer
from PIL import Image
from real_chains import FOLDER, LOOKED_AT

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the real chains are not beside the checkout")


@pytest.mark.parametrize("folder", LOOKED_AT, ids=lambda folder: "-".join(folder.parts[-2:]))
def test_no_check_of_honesty_speaks_against_a_real_editor(folder):
    names = ["I0_source", *(f"I{n}_{side}" for n in (1, 2, 3) for side in ("forward", "backward"))]
    pictures = [np.asarray(Image.open(folder / f"{name}.png").convert("RGB")) for name in names]
    scorer = Scorer("cpu", "float32", {})
    reduced = [scorer.reduce(picture) for picture in pictures]
    cycle = (
        ["add a red ball", "remove the red ball"] if "scene" in folder.name else ["add glasses", "remove glasses"]
    )
    program = {"cycle": cycle, "closes": True, "shows": cycle[0], "audits": [None, None]}
    for n in (0, 1, 2):
        of_round = {"round": n + 1, "earlier": reduced[: 2 * n]}
        undo = scorer.judge(program | of_round, 2, reduced[2 * n : 2 * n + 3], scorer.prepare(pictures[0]))
        assert isinstance(undo["known"], str) or undo["known"] < 1.75
