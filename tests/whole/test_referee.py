"""The referee's bench on small stand-ins of the repositories that it compares with: same layouts, pictures of noise."""

import json

import numpy as np
import pytest
from benchmarks.referee import __main__ as bench
from benchmarks.referee import measuring, reed_vae, viescore
from PIL import Image
from random_lpips import random_model

EDITORS = ("Alpha", "Beta")
NAMES = ("sample_1_1.jpg", "sample_1_2.jpg", "sample_2_1.jpg")
MUSEUM, STEPS = f"museum/Museum/{viescore.TASK}", "frames/static/images/steps"  # as whole clones have them
SETS = (f"{MUSEUM}/GroundTruth", f"{MUSEUM}/input", f"{STEPS}/taj_reed")


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, "PNG")


def noise(seed):
    return np.random.default_rng(seed).integers(0, 256, (40, 48, 3)).astype(np.uint8)


def worse(pixels, seed, share):
    where = np.random.default_rng(seed).random(pixels.shape[:2]) < share
    return np.where(where[..., None], noise(seed + 1), pixels)


def make_museum(folder, scores):
    """ImagenHub's pictures, and beside them VIEScore's LPIPS and raters as a whole clone keeps them."""
    measured = measuring.Measuring()
    random = np.random.default_rng(5)
    for number, name in enumerate(NAMES):
        save(folder / "GroundTruth" / name, noise(number))
        save(folder / "input" / name, worse(noise(number), 50 + number, 0.2))
    for place, editor in enumerate(EDITORS):
        published = {}
        for number, name in enumerate(NAMES):
            save(folder / editor / name, worse(noise(number), 9 * number, 0.1 + 0.3 * place))
            values = measured.distances(folder / "GroundTruth" / name, folder / editor / name)
            published[name] = {"LPIPS": round(values["lpips"], 6)}
        path = scores / "_answers" / "results_autometrics" / viescore.TASK / f"{editor}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(published))
    for rater in (1, 2, 3):
        path = scores / "_human" / viescore.TASK / f"Text-Guided_IE_rater{rater}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [[name, *(str(random.choice([0, 0.5, 1], 2).tolist()) for _ in EDITORS)] for name in NAMES]
        path.write_text("\n".join("\t".join(row) for row in [["uid", *EDITORS], *rows]))


def make_frames(folder):
    """24 rounds of two photographs; both are lost in round 9 by one coder, and one of them in round 20 by the other."""
    lost = {("eiffel", "vanilla"): 9, ("taj", "vanilla"): 9, ("eiffel", "reed"): 25, ("taj", "reed"): 20}
    for (photograph, coder), at in lost.items():
        original, other = (noise(seed) for seed in ((70, 71) if photograph == "eiffel" else (71, 70)))
        first = original if coder == "vanilla" else worse(original, 3, 0.01)
        for number in range(25):
            pixels = worse(first, number, 0.002 * number) if number < at else other
            save(folder / f"{photograph}_{coder}" / f"{photograph}_step_{number}.png", pixels)


@pytest.fixture(scope="module")
def clones(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clones")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "load_lpips", lambda: random_model("alex"))
        patch.setattr(
            "convergebench.metric_modules.damage.measure.compare", lambda *given: [0.0]
        )  # as it is slow
        make_museum(folder / MUSEUM, folder / "scores")
        make_frames(folder / STEPS)
        shared = measuring.Measuring()  # pairs of the same bytes are measured once
        patch.setattr(bench, "Measuring", lambda: shared)
        assert run(folder, "--freeze") == 0
        yield folder


def run(folder, *more):
    measuring.digest.cache_clear()
    measuring.picture.cache_clear()
    bench.Measuring().featured = (None, None)
    given = {"viescore": "scores", "imagenhub": "museum", "reed-vae": "frames"}
    given |= {"out": "page.md", "frozen": "frozen.json"}
    words = [word for name, path in given.items() for word in (f"--{name}", str(folder / path))]
    return bench.main([*words, *more])


def test_published_values_come_out_again_and_the_page_tells_all(clones, capsys):
    assert run(clones) == 0
    output = capsys.readouterr().out
    assert "FAILS" not in output
    assert "all 6 published LPIPS values whose pictures are here come out within 0.0001" in output
    assert "the half-life of REED-VAE is 20 of 24 rounds (here 20)" in output
    assert "rater against rater" in (clones / "page.md").read_text()


@pytest.mark.parametrize("name", SETS)
def test_a_picture_shifted_by_one_pixel_makes_the_bench_fail(clones, name, capsys):
    path = sorted(path for path in (clones / name).rglob("*.*") if path.is_file())[-1]
    before = path.read_bytes()
    save(path, np.roll(np.asarray(Image.open(path)), 1, axis=1))
    assert run(clones) == 1
    path.write_bytes(before)
    assert "FAILS" in capsys.readouterr().out


def test_a_folder_of_something_else_is_a_claim_that_fails(tmp_path):
    assert not reed_vae.run(tmp_path, measuring.Measuring(with_lpips=False)).holds
