"""Every code block of the pages works: Python runs, TOML is read, commands are parsed, and given to the wheel.

On the wheel they run if they are free and local: a long run is cut to two short chains, and what would ask a paid
model is planned instead.
"""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import click
import pytest
import scored
import small_dataset
import wheels
import yaml
from convergebench.cli.__main__ import Verbs, VerbWithKinds, main
from hub_server import HubServer
from space_server import Server, free_port, serving
from verbs import invoke, say

HOUSE = Path(__file__).parents[2]
CARD = "dataset_card.md"  # of the dataset
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    CARD,
    "spaces_app/README.md",
    *sorted(path.relative_to(HOUSE).as_posix() for path in HOUSE.glob("docs/*.md")),
]
# The first words of commands that stand among other text: output, YAML, --help.
PROGRAMS = ("convergebench", "accelerate", "inspect", "make", "pip", "python")


class Block(NamedTuple):
    page: str
    language: str
    code: str


def blocks(page: str) -> list[Block]:
    text = (HOUSE / page).read_text()
    return [Block(page, *found) for found in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]


def commands(page: str) -> Iterator[list[str]]:
    """The words of each command of a page; a block `sh` holds nothing else."""
    for block in blocks(page):
        yield from _commands(block.code, all_lines=block.language == "sh")


def _commands(text: str, all_lines: bool = False) -> Iterator[list[str]]:
    for line in re.sub(r"\\\n\s*|(?<=-m)\n\s*", " ", text).splitlines():
        line = line.strip().removeprefix("- run: ")
        ours = all_lines or line.startswith(tuple(f"{name} " for name in PROGRAMS))
        if ours and (words := shlex.split(line, comments=True)):
            yield words


def commands_of_help() -> Iterator[list[str]]:
    """What the --help of the program and of groups shows; that of each verb is docs/commands.md."""
    context = click.Context(main, info_name="convergebench", terminal_width=80)
    every = [main, *(main.get_command(context, name) for name in main.list_commands(context))]
    for group in (each for each in every if isinstance(each, (VerbWithKinds, Verbs))):
        text = re.sub(r"(?<=\S)  +.*", "", group.get_help(click.Context(group, info_name="convergebench")))
        yield from _commands("\n".join(line for line in text.splitlines() if "[" not in line))


# The cards of the metrics run in test_contract.py, in a process without convergebench.
CARDS = sorted(path.relative_to(HOUSE).as_posix() for path in HOUSE.glob("metric_modules/*/README.md"))
CHEAP = (["list", "editors"], ["list", "metrics"], ["list", "suites"], ["plan"])  # run; other commands are parsed
READ_ONLY = ("text", "csv", "bibtex")  # nothing to run

# In a process of its own: the Python blocks of each page one after the other, in a folder, and what each block prints.
RUNNER = """
import contextlib, io, json, os, sys
for folder, codes in json.load(sys.stdin):
    os.chdir(folder)
    names = {}
    for code in codes:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, "<block>", "exec"), names)
        print(json.dumps(printed.getvalue().splitlines()))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a built and scored dataset, and the metric folders where a checkout has them."""
    place = tmp_path_factory.mktemp("examples")
    (place / "metric_modules").symlink_to(HOUSE / "metric_modules")
    say("generate", "--suite", "smoke", "--editor", "paint", "--rounds", "1", "--out", place / "runs")
    say("build", place / "runs", "--out", place / "convergebench")
    say("score", place / "convergebench", "--metrics", "psnr,ssim")
    return place


def printed(pages, home):
    """What each block prints; `pages` are (folder, blocks), run in this order in one process."""
    given = json.dumps([(str(folder), codes) for folder, codes in pages])
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home)}
    words = [sys.executable, "-c", RUNNER]
    done = subprocess.run(words, input=given, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def promised(code):
    return re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)


def test_every_block_says_its_language():
    languages = {"python", "sh", "toml", "yaml", "html", "js", *READ_ONLY}
    for page in (*PAGES, *CARDS):
        of_page = {"python"} if page in CARDS else languages
        assert {block.language for block in blocks(page)} <= of_page, page


def test_python_of_the_readme_prints_what_it_promises(place, tmp_path):
    readme = [block.code for block in blocks("README.md") if block.language == "python"]
    assert len(readme) >= 2
    shown = [code for code in readme if not code.startswith("# mine.py")]  # which test_commands.py runs
    assert all(promised(code) for code in shown), "a block shows nothing that could fail"
    assert printed([(place, readme)], tmp_path / "home") == [promised(code) for code in readme]


def test_the_python_of_the_spaces_page_runs_against_a_space(place, tmp_path):
    [block] = [block for block in blocks("spaces_app/README.md") if block.language == "python"]
    for number, name in enumerate(("original", "round1", "round2")):
        (tmp_path / f"{name}.png").write_bytes(small_dataset.picture(1, 0.2 * number))
    with serving(place / "convergebench", tmp_path / "cache") as server:
        code = block.code.replace(
            'Client("convergebench/convergebench")', f'Client("{server.address}", verbose=False)'
        )
        board, step, picture, verdicts = printed([(tmp_path, [code])], tmp_path / "home")[0]
    assert (board, picture.startswith("/pictures/"), verdicts != "") == ("[('paint', 1.0)]", True, True)
    assert step.startswith(("add ", "remove ", "flip "))


def check_convergebench(words):
    """Parses a command as click would; runs it if that is cheap."""
    with mock.patch.object(click.Command, "invoke", return_value=None):
        parsed = invoke(*words)
    assert parsed.exit_code == 0, parsed.output
    elsewhere = {"--check", "--refresh"} & {*words} or any(word.startswith(("./", "mine/")) for word in words)
    if any(words[: len(start)] == start for start in CHEAP) and not elsewhere:
        assert invoke(*words).exit_code == 0, words


def check_pip(words):
    chosen = {name for names in re.findall(r"\[(.*)\]", " ".join(words)) for name in names.split(",")}
    assert chosen <= {*tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["optional-dependencies"]}


def check_accelerate(words):
    module = words[words.index("-m") + 1]
    verb = {"convergebench.generation": "generate", "convergebench.metric_modules": "score"}[module]
    check_convergebench([verb, *words[words.index("-m") + 2 :]])


def check_inspect(words):
    """The task takes what it is given; inspect-ai itself may not be here."""
    tree = ast.parse((HOUSE / "harness" / "inspect_task.py").read_text())
    tasks = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if words[0] != "view":
        task = tasks[words[1].removeprefix("convergebench/")]
        assert words[words.index("--model") + 1].startswith("convergebench/")
        given = {words[place + 1].partition("=")[0] for place, word in enumerate(words) if word == "-T"}
        assert given <= {argument.arg for argument in task.args.args}


@pytest.mark.parametrize("page", ["--help", *PAGES])
def test_every_command_is_one(page):
    for words in commands_of_help() if page == "--help" else commands(page):
        match words:
            case ["make", target, *_]:
                assert re.search(rf"^{target}:", (HOUSE / "Makefile").read_text(), re.MULTILINE), target
            case ["convergebench", *given]:
                check_convergebench(given)
            case ["python", "-m", "pip", "install", *_] | ["pip", "install", *_]:
                check_pip(words)
            case ["python", file, *_] if file.endswith(".py"):
                assert any((HOUSE / place / file).is_file() for place in (".", "docs")), file
            case ["accelerate", "launch", *_]:
                check_accelerate(words)
            case ["inspect", *given]:
                check_inspect(given)
            case _:
                pytest.fail(f"{page}: nothing here knows the command {words}")


def test_toml_and_yaml_can_be_read():
    read = {"toml": tomllib.loads, "yaml": yaml.safe_load}
    found = [block for page in PAGES for block in blocks(page) if block.language in read]
    assert all(read[block.language](block.code) for block in found)


# Every command, given to the wheel

# What cannot run here, and why: these are only parsed. The programs that are not ours are looked at above.
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
    """Run one command, or say why it is only parsed, which the tests above do."""
    text = " ".join(words)
    reason = next((why for pattern, why in PARSED.items() if re.search(pattern, text)), "")
    if words[0] != "convergebench" or reason:
        assert reason, f"nothing here knows {text}"
    elif words[1] == "space":
        world.provide(words, page)
        world.serve(words[1:], page)
    else:
        world.provide(words, page)
        if words[1] in ("generate", "import") and "--out" in words:  # another command may have made it
            shutil.rmtree(page / words[words.index("--out") + 1], ignore_errors=True)
        output = world.command(*changed(words[1:]), cwd=page)
        assert "--json" not in words or json.loads(output)
    return reason


@pytest.mark.slow
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
