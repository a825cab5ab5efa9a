"""Every command that a page shows, given to the wheel: run if it is free and local, else parsed.

A long run is cut to two short chains; what would ask a paid model is planned instead.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import scored
import wheels
from documented import HOUSE, PAGES, blocks, commands, commands_of_help
from hub_server import HubServer
from space_server import Server, free_port

pytestmark = pytest.mark.slow
PARSE = (
    "import sys, unittest.mock as mock, click; from convergebench.cli.__main__ import main\n"
    "with mock.patch.object(click.Command, 'invoke', return_value=None): main(sys.argv[1:])"
)
# What cannot run here, and why: these are parsed. test_examples.py looks at the programs that are not ours.
PARSED = {
    r"^(make|pip|python|inspect)\b": "another program",
    r"--multi_gpu|--executor slurm": "a cluster",
    r" --check | --refresh|^convergebench (list sources|weights) |--suite v1 --editor \./": "a download",
    r"/(pr/7|v1\.0\.0)\b|ORG/|MSE-Bench|PaintBench|mine/mine\.toml": "somebody's data",
    r"import (restored/|answers/|chains/|prompts|scores|--layout scores)": "somebody's data, too",
    r"openai:base_url=http://(localhost|127.0.0.1)": "a server of one's own",
}
PAID = r"(gemini|openai|bfl|qwen|banana100|restoration|undos\.toml|exact-mini)\b"
METRICS = "psnr,ssim,edit_applied,honesty"
SMALL = ["--rounds", "1", "--limit", "2", "--no-audit"]
# What a page takes for granted, by the name it has there: a file or folder of `world`.
GIVEN = {
    r"runs/\w+": "run",
    r"submissions/\w+": "submission",
    r"mine": "other",
    r"convergebench|banana|restored|added|theirs|work/answers": "data",
    r"report/leaderboard.json": "report/leaderboard.json",
    r"bench\.toml": "bench.toml",
    r"(?:\./)?mine\.toml": "mine.toml",
    r"(?:\./)?photographs": "photographs",
    r"originals|returns": "pictures",
    r"(?:before|after)\.png": "pictures/man.png",
    r"answers\.csv": "answers.csv",
    r"(?:anna|ben)\.json": "labels.json",
    r"\./(?:mine|my_editor)\.py:.*": "mine.py",
    r"undos\.toml": "mine.toml",
    r"challenges/NAME\.json": "salt",
    r"tests/.*\.toml": "smoke.toml",
}
NAMES = ("man", "man-hat-1", "man-back-1", "man-hat-2", "man-back-2")  # the pictures of one chain


class World:
    """What exists before the first page: a Hub with two versions, runs, datasets, pictures, an editor."""

    def __init__(self, folder: Path, installed: Path, hub: HubServer):
        self.folder = folder
        caches = {"XDG_CACHE_HOME": str(folder / "cache"), "HF_HOME": str(folder / "home"), "PIP_NO_INDEX": "1"}
        there = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0"}
        nowhere = {"https_proxy": "http://127.0.0.1:9", "PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"}
        self.environment = {**os.environ, **caches, **there, **nowhere, "BROWSER": "true"}

    def run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, *map(str, words)], cwd=cwd or self.folder, env=self.environment,
                              capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)  # fmt: skip

    def command(self, *words: str, cwd: Path | None = None) -> str:
        done = self.run("-m", "convergebench", *words, cwd=cwd)
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def provide(self, words: list[str], page: Path) -> None:
        """Put what a command takes for granted into the page's folder."""
        for before, word in zip(["", *words], words, strict=False):
            for pattern, name in GIVEN.items():
                path = page / word.partition(":")[0]
                if re.fullmatch(pattern, word) and before != "--out" and not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    copy = shutil.copytree if (self.folder / name).is_dir() else shutil.copyfile
                    copy(self.folder / name, path)

    def serve(self, words: list[str], page: Path) -> None:
        """Start the Space as documented, on a free port, until its page answers."""
        port, log = free_port(), self.folder / "space.log"
        command = [sys.executable, "-m", "convergebench", *words, "--port", str(port)]
        with log.open("w") as file:
            process = subprocess.Popen(command, cwd=page, env=self.environment, stdout=file, stderr=file)
        try:
            Server(f"http://127.0.0.1:{port}", process, log).ready(120, "/")
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    wheel, installed = wheels.build_wheel(tmp_path_factory.mktemp("wheel")), tmp_path_factory.mktemp("installed")
    words = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", installed, wheel]
    subprocess.run([sys.executable, *map(str, words)], check=True, capture_output=True)
    scored.lpips_weights(folder / "cache")
    (folder / "pictures").mkdir()
    for number, name in enumerate(NAMES):
        (folder / "pictures" / f"{name}.png").write_bytes(scored.encoded(scored.picture(number, (96, 96))))
    shutil.copytree(folder / "pictures", folder / "tables")
    shutil.copytree(folder / "pictures", folder / "photographs" / "object")
    for path, head, place in (("tables/table.csv", "chain,path", ""), ("answers.csv", "case,file", "pictures/")):
        lines = [f"man,{place}{name}.png,{(n + 1) // 2},edit {n % 2},hat,theirs" for n, name in enumerate(NAMES)]
        (folder / path).write_text("\n".join([f"{head},round,instruction,program,editor", *lines]))
    [mine] = [block.code for block in blocks("README.md") if block.code.startswith("# mine.py")]
    (folder / "mine.py").write_text(mine)
    (folder / "salt").write_bytes(bytes(range(64)))
    shutil.copyfile(HOUSE / "generation/suites/smoke.toml", folder / "smoke.toml")
    (folder / "bench.toml").write_text('editor = "jpeg"\nsuite = "smoke"\nrounds = 2\nmetrics = ["psnr"]\n')
    (folder / "mine.toml").write_text(
        'rounds = 2\nshort_side = 96\nsources = ["coffee"]\nprograms = ["flip-horizontally"]\neditors = ["paint"]\n'
    )
    with HubServer(folder / "hub") as hub:
        world = World(folder, installed, hub)
        assert world.run("-c", "import convergebench as cb; print(cb.__file__)").stdout.startswith(str(installed))
        for editor, run, data in (("oracle", "run", "data"), ("jpeg", "run2", "other")):
            world.command("generate", "--suite", "smoke", "--editor", editor, "--out", run)
            world.command("build", run, "--out", data)
            world.command("score", data, "--metrics", METRICS)
        world.command("report", "data", "--out", "report")
        for owner in ("NAMESPACE", "convergebench"):
            world.command("publish", "dataset", "data", "--repo", f"{owner}/convergebench", "--tag", "v0.1.0")
        world.command("submit", "run", "--out", "submission", "--metrics", METRICS)
        world.command("list", "labels", "--dataset", "data", "--out", "labels.json")
        yield world


def changed(words: list[str]) -> list[str]:
    """The command as it can be run here: planned if it costs money, short if it takes long."""
    text, verb = " ".join(words), words[0]
    if verb in ("generate", "run") and re.search(PAID, text):
        out = words.index("--out") if "--out" in words else len(words)
        return ["plan", *words[1:out], *words[out + 2 :]]
    if verb in ("judge", "undos") and re.search(PAID, text):
        return words if "--plan" in words else [*words, "--plan"]
    if verb == "score":  # what would have to be downloaded is left out
        return ["psnr,ssim" if "niqe" in word else word for word in words]
    if verb == "demo":
        return [*words, "--suite", "smoke"]
    return [*words, *SMALL] if verb in ("generate", "run") and "--config" not in words else words


def give(world: World, words: list[str], page: Path) -> str:
    """Run or parse one command; why it was only parsed."""
    text = " ".join(words)
    reason = next((why for pattern, why in PARSED.items() if re.search(pattern, text)), "")
    if words[0] != "convergebench":
        assert reason, f"nothing here knows {text}"
    elif reason:
        done = world.run("-c", PARSE, *words[1:], cwd=page)
        assert done.returncode == 0, f"{text}\n{done.stderr}"
    elif words[1] == "space":
        world.provide(words, page)
        world.serve(words[1:], page)
    else:
        world.provide(words, page)
        if (
            words[1] in ("generate", "import") and "--out" in words
        ):  # which another command of the page may show too
            shutil.rmtree(page / words[words.index("--out") + 1], ignore_errors=True)
        output = world.command(*changed(words[1:]), cwd=page)
        assert "--json" not in words or json.loads(output)
    return reason


@pytest.mark.parametrize("page", ["--help", *PAGES])
def test_every_command_of_a_page_works(page, world, tmp_path):
    wrong = []
    shutil.copytree(world.folder / "tables", tmp_path / "pictures")  # the answers of somebody's tables
    for words in commands_of_help() if page == "--help" else commands(page):
        try:
            reason = give(world, words, tmp_path)
            print(f"{page}: {' '.join(words)}: {'parsed, it needs ' + reason if reason else 'run'}")
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, "\n\n".join(wrong)
