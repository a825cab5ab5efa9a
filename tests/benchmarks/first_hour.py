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


class Hour:
    """Gives commands, and keeps how long they took."""

    def __init__(self, folder: Path, hub: HubServer):
        self.folder, self.hub = folder, hub
        self.seconds, self.given = 0.0, 0

    def give(self, command: str, place: str = ".") -> str:
        """Give a command in a folder; the user is called as the folder is."""
        client = {"HF_ENDPOINT": self.hub.url, "HF_TOKEN": self.hub.token_of(place), "HF_HUB_DISABLE_XET": "1"}
        caches = {"HF_HOME": str(self.folder / "home" / place), "CONVERGEBENCH_CACHE": str(self.folder / "cache")}
        path = f"{self.folder / 'clone/.venv/bin'}:{os.environ['PATH']}"  # as an activated environment has it
        environment = {**os.environ, **client, **caches, "PATH": path}
        for name in ("VIRTUAL_ENV", "PYTHONPATH"):
            environment.pop(name, None)
        (self.folder / place).mkdir(exist_ok=True)
        started = time.perf_counter()
        done = subprocess.run(command, shell=True, cwd=self.folder / place, env=environment, text=True,  # noqa: S602
                              capture_output=True, check=False)  # fmt: skip
        taken = time.perf_counter() - started
        if done.returncode:
            raise SystemExit(f"$ {command}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
        self.seconds, self.given = self.seconds + taken, self.given + 1
        print(f"{taken:8.1f} s  $ {command}", flush=True)
        return done.stdout

    def reached(self, what: str) -> None:
        print(f"{self.seconds:8.1f} s, {self.given} commands: {what}\n", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary, HubServer(Path(temporary) / "hub") as hub:
        folder = Path(temporary)
        hour = Hour(folder, hub)
        hour.give(f"git clone -q {HOUSE} clone")
        hour.give("make demo", "clone")
        assert (folder / "clone/report/index.html").exists()
        hour.reached("(a) the demo's page")
        for user, strength in (("anna", 1.02), ("ben", 0.97)):
            (folder / user).mkdir(exist_ok=True)
            (folder / user / f"{user}.py").write_text(MINE.format(strength))
            (folder / user / "read.py").write_text(READ)
        hour.give("convergebench run --editor ./anna.py:edit,name=anna --suite smoke", "anna")
        hour.reached("(b) the numbers of one's own function")
        publish = "convergebench publish dataset bench/smoke/convergebench --repo anna/bench"
        hour.give(f"{publish} --tag v1.0.0", "anna")
        print(hour.give("python read.py v1.0.0", "anna"))
        hour.reached("(c) a published version that load_dataset reads by its tag")
        hour.give("convergebench run --editor ./ben.py:edit,name=ben --suite smoke", "ben")
        print(hour.give(f"{publish} --add", "ben"))
        print(hour.give("python read.py refs/pr/1", "ben"))
        hour.reached("(d) the editor of another user, proposed for that version")


if __name__ == "__main__":
    main()
