"""Where this machine's package registries are: read from the configuration of pip, npm and apt, without those programs.

No address stands here. Where nothing is configured, pip's own default is read from the pip that Python carries.
Only the standard library is used: this file is also part of the LPIPS module, which works when downloaded alone.
"""

import configparser
import os
import platform
import re
import sys
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple


class DebianIndex(NamedTuple):
    """One list of packages: a repository, its suite, one of its components and this machine's architecture."""

    base: str
    suite: str
    component: str
    architecture: str


def python_indexes() -> list[str]:
    """The package indexes of pip, the main one first: `--index-url`, then `--extra-index-url`."""
    if pip_setting("no-index").lower() in ("1", "true", "yes", "on"):
        return []
    main = pip_setting("index-url") or os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("UV_INDEX_URL")
    main = main or pip_default()
    return [*([main] if main else []), *pip_setting("extra-index-url").split()]


def python_folders() -> list[Path]:
    """The folders of pip's `--find-links`."""
    links = [re.sub(r"^file://", "", link) for link in pip_setting("find-links").split()]
    return [Path(link) for link in links if "://" not in link and Path(link).is_dir()]


def pip_setting(name: str) -> str:
    """A setting as pip would see it: the environment, then the files, the last read first."""
    variable = os.environ.get(f"PIP_{name.upper().replace('-', '_')}")
    if variable is not None:
        return variable
    for path in reversed(pip_files()):
        read = configparser.RawConfigParser()
        try:
            read.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("download", "install", "global"):
            if read.has_option(section, name):
                return read.get(section, name)
    return ""


def pip_files() -> list[Path]:
    """pip's files of settings, those that count less first."""
    named = os.environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    home, name = Path.home(), "pip.ini" if os.name == "nt" else "pip.conf"
    if os.name == "nt":
        shared = [Path(os.environ.get("PROGRAMDATA", "C:/ProgramData")) / "pip" / name]
        own = [home / "pip" / name, Path(os.environ.get("APPDATA", home)) / "pip" / name]
    elif sys.platform == "darwin":
        shared = [Path("/Library/Application Support/pip") / name]
        own = [home / ".pip" / name, home / "Library/Application Support/pip" / name, home / ".config/pip" / name]
    else:
        folders = os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")
        shared = [*(Path(folder) / "pip" / name for folder in reversed(folders)), Path("/etc") / name]
        own = [home / ".pip" / name, Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / name]
    return [*shared, *own, Path(sys.prefix) / name, *([Path(named)] if named else [])]


def pip_default() -> str:
    """The index that pip asks when nothing is configured, from its source text: installed, or carried by Python."""
    inside = "pip/_internal/models/index.py"
    spec = find_spec("pip")
    texts = []
    if spec and spec.origin and (path := Path(spec.origin).parent / "_internal/models/index.py").is_file():
        texts.append(path.read_text(encoding="utf-8"))
    if (carried := find_spec("ensurepip")) and carried.origin:
        for wheel in Path(carried.origin).parent.glob("_bundled/pip-*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                texts.append(archive.read(inside).decode())
    for text in texts:
        if found := re.search(r'^PyPI = PackageIndex\(\s*"([^"]+)"', text, re.MULTILINE):
            return found[1].rstrip("/") + "/simple"
    return ""


def npm_registry() -> str:
    """The registry of npm: the environment, then the files of settings; "" where nothing names one."""
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if value := os.environ.get(name):
            return value
    prefix = os.environ.get("PREFIX") or sys.prefix
    named = [os.environ.get("NPM_CONFIG_USERCONFIG"), os.environ.get("NPM_CONFIG_GLOBALCONFIG")]
    places = [named[0] or Path.home() / ".npmrc", named[1] or Path(prefix) / "etc/npmrc"]
    for place in [*places, *map(Path, ("/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc"))]:
        try:
            text = Path(place).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if found := re.search(r"^\s*registry\s*=\s*(\S+)", text, re.MULTILINE):
            return found[1].strip("\"'")
    return npm_default()


def npm_default() -> str:
    """The registry that npm asks when nothing is configured, from the source text of an npm that is installed."""
    inside = "node_modules/@npmcli/config/lib/definitions/definitions.js"
    for base in ("/usr/lib/node_modules/npm", "/usr/local/lib/node_modules/npm", "/usr/share/nodejs/npm"):
        path = Path(base) / inside
        if path.is_file() and (
            found := re.search(r"'registry',\s*\{\s*default:\s*[`'\"]([^`'\"]+)", path.read_text(encoding="utf-8"))
        ):
            return found[1]
    return ""


def debian_indexes(etc: Path | None = None) -> list[DebianIndex]:
    """The binary package lists that apt is set up with."""
    etc = etc or Path(os.environ.get("APT_ETC", "/etc/apt"))
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    found: list[DebianIndex] = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if path.suffix == ".list":
            found += one_line_sources(text)
        elif path.suffix == ".sources":
            found += paragraph_sources(text)
    return list(dict.fromkeys(found))


def one_line_sources(text: str) -> Iterator[DebianIndex]:
    """`deb [options] base suite component ...`, a repository a line."""
    for line in text.splitlines():
        words = re.sub(r"\[.*?\]", "", line.partition("#")[0]).split()
        if len(words) >= 4 and words[0] == "deb":
            for component in words[3:]:
                yield DebianIndex(words[1].rstrip("/"), words[2], component, architecture())


def paragraph_sources(text: str) -> Iterator[DebianIndex]:
    """`Types:`, `URIs:`, `Suites:`, `Components:`, a repository a paragraph."""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for paragraph in re.split(r"\n\s*\n", text):
        found = re.findall(r"^([\w-]+):(.*(?:\n[ \t].*)*)", paragraph, re.MULTILINE)
        fields = {name.lower(): rest.split() for name, rest in found}
        if "deb" in fields.get("types", ()) and fields.get("enabled", ["yes"])[0].lower() not in ("no", "false", "0"):
            for base in fields.get("uris", ()):
                for suite in fields.get("suites", ()):
                    for component in fields.get("components", ()):
                        yield DebianIndex(base.rstrip("/"), suite, component, architecture())


def architecture() -> str:
    """This machine in Debian's words."""
    return {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
