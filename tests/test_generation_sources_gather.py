"""Gathering compares every hash, and one bad picture keeps no other from arriving."""

import hashlib
import io
import os
import shutil
import subprocess
import sys
import zipfile

import huggingface_hub
import pytest
from convergebench.generation.pictures import pixel_hash
from convergebench.generation.records import UserError
from convergebench.generation.sources import catalogue, packages
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
            raise packages.Unavailable(f"pip cannot download {package}: no matching distribution")
        return {path: files[package][path] for path in paths if path in files[package]}

    monkeypatch.setattr(catalogue, "manifest", lambda: rows)
    monkeypatch.setattr(packages, "fetch", fetch)
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
    assert {path.name for path in tmp_path.iterdir()} == {"good.png", "other.png"}
    assert set(problems) == {"changed", "moved", "gone"}
    assert "source 'changed' has sha256" in problems["changed"]
    assert "'moved' should be elsewhere/moved.png in pypi:one==1, which has no such file" in problems["moved"]
    assert "'gone' did not arrive: pip cannot download pypi:vanished==2" in problems["gone"]
    assert all(len(sentence.splitlines()) == 1 for sentence in problems.values())


def test_a_folder_that_cannot_be_written_is_one_sentence(shop, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match=r"cannot write to .*file: that is not a folder"):
        catalogue.gather([], tmp_path / "file")


def test_a_second_gathering_asks_nobody_and_a_spoilt_file_is_fetched_again(shop, tmp_path):
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


def test_reading_a_picture_that_is_not_there_yet_gathers_its_whole_package_once(shop, tmp_path):
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


def test_a_cropped_picture_is_kept_as_its_pixels_and_known_by_them(shop, tmp_path):
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


def test_a_wheel_is_fetched_by_name_and_version_with_pip(tmp_path, monkeypatch):
    wheel = tmp_path / "shop" / "some_pictures-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("some_pictures/a.png", b"picture")
        info = "some_pictures-1.0.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: some-pictures\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    got = packages.fetch("pypi:some-pictures==1.0", ["some_pictures/a.png", "some_pictures/b.png"])
    assert got == {"some_pictures/a.png": b"picture"}
    with pytest.raises(packages.Unavailable, match=r"pip cannot download some-pictures==2.0: .*No matching"):
        packages.fetch("pypi:some-pictures==2.0", ["some_pictures/a.png"])


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="no dpkg-deb on this machine")
def test_a_debian_package_is_unpacked_without_being_installed(tmp_path, monkeypatch):
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "usr/share/pictures").mkdir(parents=True)
    (tree / "usr/share/pictures/a.jpg").write_bytes(b"picture")
    control = "Package: some-pictures\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\n"
    (tree / "DEBIAN/control").write_text(control + "Description: pictures\n")
    tools = tmp_path / "tools"
    tools.mkdir()
    deb = tmp_path / "some-pictures_1_all.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, deb], check=True, capture_output=True)
    client = tools / "apt-get"
    client.write_text(
        f'#!/bin/sh\n[ "$3" = some-pictures ] && exec cp {deb} .\necho "E: Unable to locate package $3" >&2\nexit 100\n'
    )
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    got = packages.fetch("debian:some-pictures", ["usr/share/pictures/a.jpg", "usr/share/none.jpg"])
    assert got == {"usr/share/pictures/a.jpg": b"picture"}
    with pytest.raises(packages.Unavailable, match="apt-get cannot download others: Unable to locate package others"):
        packages.fetch("debian:others", ["a"])
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(packages.Unavailable, match="there is no apt-get on this machine"):
        packages.fetch("debian:some-pictures", ["a"])


def test_a_place_that_does_not_exist_is_refused_by_name():
    with pytest.raises(packages.Unavailable, match="'ftp' is no place for packages; the places are debian, hub"):
        packages.fetch("ftp:x", ["a"])


def test_a_picture_from_a_hub_dataset_comes_from_its_pinned_revision(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    with HubServer(tmp_path / "hub") as hub:
        api = HfApi(endpoint=hub.url, token=hub.token)
        api.create_repo("someone/pictures", repo_type="dataset")
        about = {"path_in_repo": "images/a.png", "repo_id": "someone/pictures", "repo_type": "dataset"}
        pinned = api.upload_file(path_or_fileobj=b"first", **about).oid
        api.upload_file(path_or_fileobj=b"second", **about)
        code = (
            "from convergebench.generation.sources import packages\n"
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
