"""Real chains: the engine's fast numbers are near those of float32, and no check of honesty finds a cheat in them."""

import pytest
from convergebench.generation.pictures import decode_array, resize_to
from convergebench.metric_modules import specs
from convergebench.metric_modules._engine import metrics
from convergebench.metric_modules._engine.score_chain import Reference, compare
from convergebench.metric_modules.honesty.measure import Scorer
from convergebench.metric_modules.lpips import weights
from real_chains import FOLDER, LOOKED_AT
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the real chains are not beside this checkout")


def real_chains():
    for folder in sorted(path.parent for path in FOLDER.glob("*/*/I0_source.png")):
        original = decode_array((folder / "I0_source.png").read_bytes())
        size = original.shape[1], original.shape[0]
        answers = sorted(path for path in folder.glob("I*.png") if path.name != "I0_source.png")
        yield original, [resize_to(decode_array(path.read_bytes()), *size) for path in answers]


def values(dtype, reference, pictures):
    runs, _ = metrics.choose(["psnr", "ssim", "lpips"], "cpu", dtype)
    return compare(Reference(reference), pictures, runs, lambda column, value: False)


@pytest.mark.weights
@pytest.mark.skipif(not weights.weights_file("alex").is_file(), reason="run `convergebench weights lpips` first")
def test_real_chains_agree_in_every_dtype():
    apart = {"psnr": 0.0, "ssim": 0.0, "lpips": 0.0}
    count = 0
    for reference, pictures in real_chains():
        exact, fast = (values(dtype, reference, pictures) for dtype in ("float32", "bfloat16"))
        for picture, one, other in zip(pictures, exact, fast, strict=True):
            window = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
            theirs = {
                "psnr": peak_signal_noise_ratio(reference, picture),
                "ssim": structural_similarity(reference, picture, channel_axis=2, data_range=255, **window),
                "lpips": one["lpips"],
            }
            apart = {name: max(apart[name], abs(theirs[name] - other[name])) for name in apart}
            count += 1
    assert count == 144
    assert apart["psnr"] < 1e-5
    assert apart["ssim"] < 1e-6
    assert apart["lpips"] < specs.score_columns()["lpips"].bfloat16_error


@pytest.mark.parametrize("folder", LOOKED_AT, ids=lambda folder: "-".join(folder.parts[-2:]))
def test_no_check_of_honesty_speaks_against_a_real_editor(folder):
    names = ["I0_source", *(f"I{n}_{side}" for n in (1, 2, 3) for side in ("forward", "backward"))]
    pictures = [decode_array((folder / f"{name}.png").read_bytes()) for name in names]
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
