"""The referee's bench on small stand-ins of what it compares with: the same layouts, pictures of noise."""

import json

import numpy as np
import pytest
from benchmarks.referee import __main__ as bench
from benchmarks.referee import measuring, reed_vae, viescore
from PIL import Image
from random_lpips import random_model
from stores import encoded, write

MUSEUM, STEPS = f"museum/Museum/{viescore.TASK}", "frames/static/images/steps"  # as whole clones have them
GIVEN = "--viescore scores --imagenhub museum --reed-vae frames --out page.md --frozen frozen.json"
NAMES = ("sample_1_1.jpg", "sample_1_2.jpg", "sample_2_1.jpg")


def save(path, pixels):
    write(path, encoded(Image.fromarray(pixels), "PNG"))


def noise(seed):
    return np.random.default_rng(seed).integers(0, 256, (40, 48, 3)).astype(np.uint8)


def worse(pixels, seed, share):
    where = np.random.default_rng(seed).random(pixels.shape[:2]) < share
    return np.where(where[..., None], noise(seed + 1), pixels)


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """24 rounds of two photographs; both are lost in round 9 by one coder, and one of them in round 20 by the other."""
    lost = {("eiffel", "vanilla"): 9, ("taj", "vanilla"): 9, ("eiffel", "reed"): 25, ("taj", "reed"): 20}
    for (photograph, coder), at in lost.items():
        original, other = (noise(seed) for seed in ((70, 71) if photograph == "eiffel" else (71, 70)))
        first = original if coder == "vanilla" else worse(original, 3, 0.01)
        for number in range(25):
            pixels = worse(first, number, 0.002 * number) if number < at else other
            save(tmp_path / STEPS / f"{photograph}_{coder}" / f"{photograph}_step_{number}.png", pixels)
    # Damage takes long, and no claim rests on it.
    for name in ("prepare", "compare"):
        monkeypatch.setattr(f"convergebench.metric_modules.damage.measure.{name}", lambda *given: [0.0])
    monkeypatch.setattr(measuring, "load_lpips", lambda: random_model("alex"))
    shared = measuring.Measuring()  # pairs of the same bytes are measured once
    monkeypatch.setattr(bench, "Measuring", lambda: shared)
    make_museum(tmp_path / MUSEUM, tmp_path / "scores", shared)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_museum(folder, scores, measured):
    """ImagenHub's pictures, and beside them VIEScore's LPIPS and raters."""
    editors, random = ("Alpha", "Beta"), np.random.default_rng(5)
    for number, name in enumerate(NAMES):
        save(folder / "GroundTruth" / name, noise(number))
        save(folder / "input" / name, worse(noise(number), 50 + number, 0.2))
    for place, editor in enumerate(editors):
        lpips = {}
        for number, name in enumerate(NAMES):
            save(folder / editor / name, worse(noise(number), 9 * number, 0.1 + 0.3 * place))
            found = measured.distances(folder / "GroundTruth" / name, folder / editor / name)
            lpips[name] = {"LPIPS": round(found["lpips"], 6)}
        write(scores / "results_autometrics" / viescore.TASK / f"{editor}.json", json.dumps(lpips))
    for rater in (1, 2, 3):
        rows = [[name, *(str(random.choice([0, 0.5, 1], 2).tolist()) for _ in editors)] for name in NAMES]
        text = "\n".join("\t".join(row) for row in [["uid", *editors], *rows])
        write(scores / f"Text-Guided_IE_rater{rater}.tsv", text)


def run(*more):
    measuring.digest.cache_clear()
    measuring.picture.cache_clear()
    bench.Measuring().featured = (None, None)
    return bench.main([*GIVEN.split(), *more])


def test_a_picture_shifted_by_one_pixel_makes_the_bench_fail(clone, capsys):
    assert (run("--freeze"), run()) == (0, 0)
    output = capsys.readouterr().out
    assert "FAILS" not in output
    assert "the half-life of REED-VAE is 20 of 24 rounds (here 20)" in output
    assert "all 6 published LPIPS values whose pictures are here come out within 0.0001" in output
    museum = [f"{MUSEUM}/{name}/{NAMES[2]}" for name in ("GroundTruth", "input", "Alpha")]
    for path in (clone / name for name in (*museum, f"{STEPS}/taj_reed/taj_step_9.png")):
        before = path.read_bytes()
        save(path, np.roll(np.asarray(Image.open(path)), 1, axis=1))
        assert run() == 1, path
        path.write_bytes(before)
        assert "FAILS" in capsys.readouterr().out
    assert bench.main(["--out", "page.md"]) == 0
    assert (clone / "page.md").read_text().count("Left out: it needs a clone of") == 2
    assert not reed_vae.run(clone / "frames" / "static", measuring.Measuring(with_lpips=False)).holds
