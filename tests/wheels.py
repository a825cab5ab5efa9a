"""Environments made from the wheel alone, one for each extra: what they weigh, and what the demo does there.

python tests/wheels.py    the table of all extras but dev on PYTHONS (paths, separated by colons)
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

HOUSE = Path(__file__).parent.parent
TORCH = "torch==2.13.0\n"  # by this pin the build without CUDA, where the registry has it
STRAY = shutil.ignore_patterns(
    ".*", "build", "runs", "convergebench", "report", "*.egg-info", "__pycache__", "tests"
)


def extras():
    """Every extra that a user may ask for; "" is none."""
    table = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return ["", *(name for name in table if name != "dev")]


def build_wheel(out):
    copy = out / "house"
    shutil.copytree(HOUSE, copy, symlinks=True, ignore=STRAY)
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", out, copy]
    subprocess.run([sys.executable, *map(str, words)], check=True, capture_output=True)
    shutil.rmtree(copy)
    return next(out.glob("*.whl"))


def try_environment(wheel, extra, folder, python):
    """Install the wheel with an extra into an environment of its own, and run the small demo there: a row's end."""
    words = [sys.executable, "-m", "pip", "cache", "dir"]  # so that nothing is fetched again
    pip_cache = subprocess.check_output(words, text=True).strip()
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"XDG_CACHE_HOME": str(folder / "cache"), "HF_HUB_OFFLINE": "1", "PIP_CACHE_DIR": pip_cache}

    def run(*words, **more):
        return subprocess.run(list(map(str, words)), env=environment, capture_output=True, text=True, **more)

    made, work = folder / "venv", folder / "work"
    work.mkdir(parents=True)
    run(Path(python).resolve(), "-m", "venv", made, check=True)
    before, started = size(made), time.monotonic()
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    pins = folder / "torch.txt"
    pins.write_text(TORCH)
    run(
        made / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile", "-c", pins, wanted, check=True
    )
    seconds, megabytes = time.monotonic() - started, size(made) - before
    check = run(made / "bin" / "python", "-m", "pip", "check")
    checked = "clean" if check.returncode == 0 else check.stdout.splitlines()[0]
    demo = run(made / "bin" / "convergebench", "demo", "--suite", "smoke", cwd=work)
    print(demo.stderr[-2000:] if demo.returncode else "", end="", file=sys.stderr)
    return [str(megabytes), f"{seconds:.0f}", checked, f"exit {demo.returncode}" if demo.returncode else "done"]


def size(folder):
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return sum(path.stat().st_size for path in files) // 10**6


def main():
    print("| Python | extra | MB | seconds to install | pip check | demo |")
    print("|---|---|--:|--:|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        wheel = build_wheel(Path(temporary))
        for python in os.environ.get("PYTHONS", sys.executable).split(":"):
            version = subprocess.check_output([python, "--version"], text=True).split()[1]
            for extra in extras():
                label = f"`[{extra}]`" if extra else "base"
                with tempfile.TemporaryDirectory() as folder:
                    row = [version, label, *try_environment(wheel, extra, Path(folder), python)]
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
