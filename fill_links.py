"""Files that several folders share are links in git, and git on Windows writes a link as a text that names its target.

python fill_links.py    puts the files in the place of such texts, and tells git to leave them so

Any `pip install` from a checkout puts them there too, because this is also the build backend: setuptools, after that.
Where links are links, nothing is done.
"""

import subprocess
from pathlib import Path

if __name__ != "__main__":  # run by hand it does without setuptools
    from setuptools import build_meta
    from setuptools.build_meta import *  # noqa: F403 - the other hooks are those of setuptools

HOUSE = Path(__file__).parent.resolve()
ROOMS = ("dataset_builder", "generation", "metric_modules", "spaces_app", "harness", "cli")
LONGEST = 200  # bytes of a link


def target_of(path: Path, text: bytes, house: Path) -> Path | None:
    """The file that a link's text names, where it is one of the checkout."""
    if len(text) > LONGEST or not text.startswith(b"../") or b"\n" in text.strip():
        return None
    target = (path.parent / text.decode().strip()).resolve()
    return target if target.is_file() and target.is_relative_to(house) else None


def texts(house: Path) -> dict[Path, Path]:
    """Files that hold no more than the text of a link, and what each names."""
    files = [path for room in ROOMS for path in (house / room).rglob("*") if path.is_file() and not path.is_symlink()]
    small = [path for path in files if path.stat().st_size <= LONGEST]
    found = {path: target_of(path, path.read_bytes(), house) for path in small}
    return {path: target for path, target in found.items() if target}


def links_in_git(house: Path) -> dict[Path, Path]:
    """What git keeps as links and wrote as something else: also those that were filled before."""

    def git(*words: str) -> bytes:
        return subprocess.run(["git", *words], cwd=house, capture_output=True, check=True).stdout

    try:
        listed = git("ls-files", "-s", "-z", *ROOMS) if (house / ".git").exists() else b""
    except (OSError, subprocess.CalledProcessError):  # no git here, or a checkout that is another user's
        return {}
    found = {}
    for line in listed.decode().split("\0"):
        about, _, name = line.partition("\t")
        if about.startswith("120000") and not (house / name).is_symlink():
            found[house / name] = target_of(house / name, git("cat-file", "blob", about.split()[1]), house)
    return {path: target for path, target in found.items() if target}


def fill(house: Path = HOUSE) -> list[Path]:
    """Put files in the place of the texts; the files that now hold what they name."""
    found = {**texts(house), **links_in_git(house)}
    for path, target in found.items():
        path.write_bytes(target.read_bytes())
    return sorted(found)


def build_wheel(*words, **more):  # type: ignore[no-untyped-def]
    fill()
    return build_meta.build_wheel(*words, **more)


def build_editable(*words, **more):  # type: ignore[no-untyped-def]
    fill()
    return build_meta.build_editable(*words, **more)


def build_sdist(*words, **more):  # type: ignore[no-untyped-def]
    fill()
    return build_meta.build_sdist(*words, **more)


if __name__ == "__main__":
    filled = [path.relative_to(HOUSE).as_posix() for path in fill()]
    if filled and (HOUSE / ".git").exists():
        subprocess.run(["git", "update-index", "--skip-worktree", "--", *filled], cwd=HOUSE, check=True)
    print(f"{len(filled)} links filled with the files that they name")
