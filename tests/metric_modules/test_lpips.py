"""LPIPS: the published network by our own few lines, with a reference's features computed once."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from convergebench.metric_modules.lpips import lpips as module
from convergebench.metric_modules.lpips import measure, weights
from convergebench.metric_modules.lpips_vgg import measure as lpips_vgg
from random_lpips import CHANNELS, KERNELS, random_model, random_tensors

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


def test_identity_order_and_batches_do_not_matter_and_nothing_keeps_a_gradient():
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
