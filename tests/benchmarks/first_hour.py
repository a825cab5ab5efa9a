"""Seconds and commands from `git clone` to the demo's page, one's own numbers, a version on the Hub, and an editor of
somebody else added to it.

python tests/benchmarks/first_hour.py     clones this checkout into a temporary folder and gives the commands of README;
                                          packages come from pip's registry and cache, the Hub is one on the loopback

Prints every command, its seconds, and the sums; fails where a command does.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOUSE = Path(__file__).parents[2]
sys.path.insert(0, str(HOUSE / "tests"))
from hub_server import HubServer  # noqa: E402

MINE = """from PIL import ImageEnhance

def edit(image, instruction, seed):
    return ImageEnhance.Contrast(image).enhance({})
"""
READ = """import sys, datasets
rows = datasets.load_dataset("anna/bench", "scores", split="test", revision=sys.argv[1])
print(sys.argv[1], sorted(set(rows["editor"])), rows.num_rows, "scores")
"""
PUBLISH = "convergebench publish dataset bench/smoke/convergebench --repo anna/bench"
STAGES = {  # what is reached by which commands, each in its folder; the user is called as the folder is
    "(a) the demo's page": [(".", f"git clone -q {HOUSE} clone"), ("clone", "make demo")],
    "(b) the numbers of one's own function": [
        ("anna", "convergebench run --editor ./anna.py:edit,name=anna --suite smoke")
    ],
    "(c) a published version that load_dataset reads by its tag": [
        ("anna", f"{PUBLISH} --tag v1.0.0"), ("anna", "python read.py v1.0.0"),
    ],
    "(d) the editor of another user, proposed for that version": [
        ("ben", "convergebench run --editor ./ben.py:edit,name=ben --suite smoke"),
        ("ben", f"{PUBLISH} --add"), ("ben", "python read.py refs/pr/1"),
    ],
}  # fmt: skip


def give(command: str, user: str, folder: Path, hub: HubServer) -> float:
    """The seconds of a command; what it says is printed if it publishes or reads."""
    client = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token_of(user), "HF_HUB_DISABLE_XET": "1"}
    caches = {"HF_HOME": str(folder / "home" / user), "CONVERGEBENCH_CACHE": str(folder / "cache")}
    path = f"{folder / 'clone/.venv/bin'}:{os.environ['PATH']}"  # as an activated environment has it
    environment = {**os.environ, **client, **caches, "PATH": path}
    for name in ("VIRTUAL_ENV", "PYTHONPATH"):
        environment.pop(name, None)
    started = time.perf_counter()
    done = subprocess.run(command, shell=True, cwd=folder / user, env=environment, text=True,  # noqa: S602
                          capture_output=True, check=False)  # fmt: skip
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"$ {command}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    print(f"{seconds:8.1f} s  $ {command}", flush=True)
    if "read.py" in command or "--add" in command:
        print(done.stdout)
    return seconds


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary, HubServer(Path(temporary) / "hub") as hub:
        folder, seconds = Path(temporary), []
        for user, strength in (("anna", 1.02), ("ben", 0.97)):
            (folder / user).mkdir()
            (folder / user / f"{user}.py").write_text(MINE.format(strength))
            (folder / user / "read.py").write_text(READ)
        for reached, commands in STAGES.items():
            seconds += [give(command, user, folder, hub) for user, command in commands]
            print(f"{sum(seconds):8.1f} s, {len(seconds)} commands: {reached}\n", flush=True)


if __name__ == "__main__":
    main()
