"""Environments made from the wheel alone, one for each extra: what they weigh, and what the demo does there.

python tests/wheels.py    the table of EXTRAS (all but dev) on PYTHONS (paths, separated by colons) with the newest
                          dependencies, and of LOWEST (base, score) with the lowest that are allowed
"""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

HOUSE = Path(__file__).parent.parent
TORCH = "torch==2.13.0\n"  # by this pin the build without CUDA, where the registry has it
STRAY = shutil.ignore_patterns(
    ".*", "build", "runs", "convergebench", "report", "*.egg-info", "__pycache__", "tests"
)


class Tried(NamedTuple):
    """An environment, what making it took, and what `pip check` and the demo said."""

    python: Path
    megabytes: int
    seconds: float
    check: subprocess.CompletedProcess
    demo: subprocess.CompletedProcess


def extras() -> dict[str, list[str]]:
    """Every extra that a user may ask for, with the others that ask for the same packages; "" is none."""
    table = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    alike: dict[frozenset[str], list[str]] = {frozenset(): [""]}
    for name in table:
        if name != "dev":
            alike.setdefault(asked_by(name, table), []).append(name)
    return {names[0]: names for names in alike.values()}


def asked_by(extra: str, table: dict[str, list[str]]) -> frozenset[str]:
    """The packages of an extra, and of the extras that it names."""
    found: set[str] = set()
    for wanted in table[extra]:
        named = wanted.partition("[")[2].rstrip("]").split(",") if wanted.startswith("convergebench[") else []
        found |= frozenset().union(*(asked_by(name, table) for name in named)) if named else {wanted}
    return frozenset(found)


def build_wheel(out: Path) -> Path:
    copy = out / "house"
    shutil.copytree(HOUSE, copy, symlinks=True, ignore=STRAY)
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", out, copy]
    subprocess.run([sys.executable, *map(str, words)], check=True, capture_output=True)
    shutil.rmtree(copy)
    return next(out.glob("*.whl"))


def try_environment(wheel: Path, extra: str, folder: Path, python: str = sys.executable, *options: str) -> Tried:
    """Install the wheel with an extra into an environment of its own, and run the small demo there."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"XDG_CACHE_HOME": str(folder / "cache"), "HF_HUB_OFFLINE": "1", "PIP_CACHE_DIR": pip_cache()}

    def run(*words: object, **more: object) -> subprocess.CompletedProcess:
        return subprocess.run(list(map(str, words)), env=environment, capture_output=True, text=True, **more)

    made, work = folder / "venv", folder / "work"
    work.mkdir(parents=True)
    run(Path(python).resolve(), "-m", "venv", made, check=True)
    before, started = size(made), time.monotonic()
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    done = run(made / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile", *options, wanted)
    if done.returncode:
        raise RuntimeError(done.stderr)
    seconds, megabytes = time.monotonic() - started, size(made) - before
    check = run(made / "bin" / "python", "-m", "pip", "check")
    demo = run(made / "bin" / "convergebench", "demo", "--suite", "smoke", cwd=work)
    return Tried(made / "bin" / "python", megabytes, seconds, check, demo)


@functools.cache
def pip_cache() -> str:
    """The folder of pip's own cache, so that an environment does not fetch again what another one had."""
    words = [sys.executable, "-m", "pip", "cache", "dir"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def lowest_versions(extra: str, folder: Path, version: str) -> Path:
    """The oldest dependencies that pyproject.toml allows, as a file of requirements; uv finds them."""
    tool, out = folder / "uv", folder / "lowest.txt"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", tool, "uv"], check=True)
    (folder / "torch.txt").write_text(TORCH)
    words = [
        *["--quiet", "--resolution", "lowest-direct", "--constraint"],
        folder / "torch.txt",
        "--output-file",
        out,
    ]
    words += ["--python-version", version, *(["--extra", extra] if extra else []), HOUSE / "pyproject.toml"]
    index = os.environ.get("PIP_INDEX_URL")
    environment = os.environ | ({"UV_DEFAULT_INDEX": index} if index else {})
    command = [tool / "bin" / "uv", "pip", "compile", *words]
    subprocess.run(list(map(str, command)), check=True, capture_output=True, env=environment)
    return out


def size(folder: Path) -> int:
    return (
        sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        // 10**6
    )


def main() -> None:
    print("| Python | extra | dependencies | MB | seconds to install | pip check | demo |")
    print("|---|---|---|--:|--:|---|---|", flush=True)
    alike = extras()
    chosen, lowest = (
        [name.removeprefix("base") for name in os.environ.get(variable, every).split(",") if name]
        for variable, every in (("EXTRAS", ",".join(name or "base" for name in alike)), ("LOWEST", "base,score"))
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel = build_wheel(folder)
        (folder / "torch.txt").write_text(TORCH)
        pythons = os.environ.get("PYTHONS", sys.executable).split(":")
        rows = [(python, extra, "newest") for python in pythons for extra in chosen]
        rows += [(pythons[0], extra, "lowest") for extra in lowest]
        for number, (python, extra, which) in enumerate(rows):
            told = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout
            version = told.split()[1]
            options = ["-c", folder / "torch.txt"]
            if which == "lowest":
                options = ["-r", lowest_versions(extra, folder, version)]
            tried = try_environment(wheel, extra, folder / str(number), python, *map(str, options))
            checked = "clean" if tried.check.returncode == 0 else tried.check.stdout.splitlines()[0]
            demo = "done" if tried.demo.returncode == 0 else f"exit {tried.demo.returncode}"
            label = ", ".join(f"`[{each}]`" for each in alike.get(extra, [extra])) if extra else "base"
            numbers = f"{tried.megabytes} | {tried.seconds:.0f}"
            print(f"| {version} | {label} | {which} | {numbers} | {checked} | {demo} |", flush=True)
            if tried.demo.returncode:
                print(tried.demo.stderr[-2000:], file=sys.stderr)
            shutil.rmtree(folder / str(number))


if __name__ == "__main__":
    main()
