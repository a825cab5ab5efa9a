"""On real chains with the real LPIPS weights, the engine's fast numbers are near those of float32."""

import pytest
from convergebench.generation.pictures import decode_array, resize_to
from convergebench.metric_modules import specs
from convergebench.metric_modules._engine import metrics
from convergebench.metric_modules._engine.score_chain import Reference, compare
from convergebench.metric_modules.lpips import weights
from real_chains import FOLDER
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

pytestmark = [
    pytest.mark.weights,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the real chains are not beside this checkout"),
    pytest.mark.skipif(
        not weights.weights_file("alex").is_file(), reason="run `convergebench weights lpips` first"
    ),
]


def real_chains():
    for folder in sorted(path.parent for path in FOLDER.glob("*/*/I0_source.png")):
        original = decode_array((folder / "I0_source.png").read_bytes())
        size = original.shape[1], original.shape[0]
        answers = sorted(path for path in folder.glob("I*.png") if path.name != "I0_source.png")
        yield original, [resize_to(decode_array(path.read_bytes()), *size) for path in answers]


def values(dtype, reference, pictures):
    runs, _ = metrics.choose(["psnr", "ssim", "lpips"], "cpu", dtype)
    return compare(Reference(reference), pictures, runs, lambda column, value: False)


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
            } | {name: one[name] for name in ("lpips",)}
            apart = {name: max(apart[name], abs(theirs[name] - other[name])) for name in apart}
            count += 1
    assert count == 144
    assert apart["psnr"] < 1e-5
    assert apart["ssim"] < 1e-6
    for name in ("lpips",):
        assert apart[name] < specs.score_columns()[name].bfloat16_error
