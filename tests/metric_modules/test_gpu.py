"""What differs on a GPU, tried without one: on the CPU and on torch's device `meta`, which has no numbers."""

from types import SimpleNamespace

import pytest
import random_lpips
import scored
import torch
from benchmarks.verdicts.labelled import CHAINS
from convergebench.generation.pictures import decode_array, resize_to
from convergebench.metric_modules._engine import metrics
from convergebench.metric_modules.clip_similarity import measure as clip
from convergebench.metric_modules.lpips import measure as lpips
from convergebench.metric_modules.lpips import weights
from convergebench.metric_modules.lpips.spec import SPEC

PICTURES = [scored.worn(scored.picture(1, (96, 64)), strength, strength) for strength in range(32)]


@pytest.mark.parametrize(("rank", "sees", "device"), [(0, 4, "cuda:0"), (7, 4, "cuda:3"), (7, 1, "cuda:0")])
def test_each_task_has_a_gpu_of_those_it_sees_in_turn(monkeypatch, rank, sees, device):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: sees)
    assert metrics.device_of("cuda", rank) == device
    assert metrics.device_of("cuda:2", rank) == "cuda:2"
    assert metrics.device_of("cpu", rank) == "cpu"


@pytest.mark.parametrize(("device", "otherwise"), [("cuda", "float16"), ("cpu", "float32")])
def test_the_fast_dtype_follows_the_hardware(monkeypatch, device, otherwise):
    for multiplies, dtype in ((True, "bfloat16"), (False, otherwise)):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation, has=multiplies: has)
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda has=multiplies: {"avx2": 1, "avx512_bf16": has})
        assert metrics.fast_dtype(device) == dtype


@pytest.mark.parametrize("moved", [lpips.to_device, clip.to_device])
def test_pictures_go_to_a_gpu_through_pinned_memory(moved):
    said = []
    note = lambda device, non_blocking: said.append((device.type, device.index, non_blocking))  # noqa: E731
    pinned = SimpleNamespace(to=note)
    moved(SimpleNamespace(pin_memory=lambda: pinned), torch.device("cuda", 3))
    assert said == [("cuda", 3, True)]
    values = torch.zeros(2)
    assert moved(values, torch.device("cpu")) is values


def test_a_whole_chain_passes_lpips_at_once(monkeypatch):
    model = random_lpips.random_model("alex")
    reference = lpips.features(model, PICTURES[:1])
    one_by_one = [lpips.distances(model, reference, [picture])[0] for picture in PICTURES[:6]]
    monkeypatch.setattr(lpips, "_row_blocks", lambda values: [(slice(None), slice(None))])  # as on a GPU
    together = lpips.distances(model, reference, PICTURES[:6])
    for distances, alone in zip(together, one_by_one, strict=True):
        assert distances == pytest.approx(alone, abs=1e-6)


def test_a_whole_chain_passes_at_once_on_another_device(tmp_path):
    model = random_lpips.random_model("alex")
    tensors = {name: value.to("meta") for name, value in model.tensors.items()}
    meta = lpips.Model(model.net, tensors, model.dtype, "")
    found = lpips.features(meta, PICTURES)
    assert {(each.device.type, each.shape[0]) for each in found} == {("meta", len(PICTURES))}
    assert list(lpips._row_blocks(torch.empty((32, 9, 9, 64), device="meta"))) == [(slice(None), slice(None))]
    network, processor = clip._read(scored.clip_model(tmp_path / "clip"), "float32", cached=True)
    rows = clip.embed(clip.Model("", network.to("meta"), processor, ""), PICTURES)
    assert (rows.device.type, tuple(rows.shape)) == ("meta", (len(PICTURES), 8))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_are_as_near_to_float32_as_the_columns_say(dtype):
    exact, half = random_lpips.random_model("alex"), random_lpips.random_model("alex", dtype)
    assert lpips.signature(half)["dtype"] == dtype
    found = [
        lpips.distances(model, lpips.features(model, PICTURES[:1]), PICTURES[8:12]) for model in (exact, half)
    ]
    bounds = {column["name"]: column["bfloat16_error"] for column in SPEC["columns"]}
    for one, other in zip(*found, strict=True):
        assert all(abs(one[name] - other[name]) <= bound for name, bound in bounds.items())


@pytest.mark.weights
@pytest.mark.skipif(not CHAINS.is_dir(), reason="the real chains are not beside the checkout")
def test_real_returns_agree_in_bfloat16():
    tensors, digest = weights.load_weights("alex")
    models = [lpips.model("alex", tensors, "cpu", dtype, digest) for dtype in ("float32", "bfloat16")]
    sources = sorted(CHAINS.glob("*/*/I0_source.png"))
    assert len(sources) == 24
    for path in sources[::4]:
        source = decode_array(path.read_bytes())
        back = resize_to(decode_array(path.with_name("I3_backward.png").read_bytes()), *source.shape[1::-1])
        exact, fast = (lpips.distances(model, lpips.features(model, [source]), [back])[0] for model in models)
        for column in SPEC["columns"]:
            assert abs(exact[column["name"]] - fast[column["name"]]) < column["bfloat16_error"], path
