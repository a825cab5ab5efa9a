"""The referee's bench on a small stand-in of the frames that it compares with: the same layout, pictures of noise."""

import numpy as np
import pytest
from benchmarks.referee import __main__ as bench
from benchmarks.referee import measuring, reed_vae
from PIL import Image
from random_lpips import random_model

STEPS = "frames/static/images/steps"  # as a whole clone has them


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, "PNG")


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
    monkeypatch.setattr("convergebench.metric_modules.damage.measure.compare", lambda *given: [0.0])
    monkeypatch.setattr(measuring, "load_lpips", lambda: random_model("alex"))
    shared = measuring.Measuring()  # pairs of the same bytes are measured once
    monkeypatch.setattr(bench, "Measuring", lambda: shared)
    return tmp_path


def run(folder, *more):
    measuring.digest.cache_clear()
    measuring.picture.cache_clear()
    bench.Measuring().featured = (None, None)
    given = {"reed-vae": "frames", "out": "page.md", "frozen": "frozen.json"}
    return bench.main([*(word for name in given for word in (f"--{name}", str(folder / given[name]))), *more])


def test_a_picture_shifted_by_one_pixel_makes_the_bench_fail(clone, capsys):
    assert (run(clone, "--freeze"), run(clone)) == (0, 0)
    output = capsys.readouterr().out
    assert "FAILS" not in output
    assert "the half-life of REED-VAE is 20 of 24 rounds (here 20)" in output
    path = clone / STEPS / "taj_reed" / "taj_step_9.png"
    save(path, np.roll(np.asarray(Image.open(path)), 1, axis=1))
    assert run(clone) == 1
    assert "FAILS" in capsys.readouterr().out
    assert not reed_vae.run(clone / "frames" / "static", measuring.Measuring(with_lpips=False)).holds
