"""Every code block of the pages works: Python runs, commands are parsed (test_commands.py runs them), TOML is read."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from unittest import mock

import click
import pytest
import small_dataset
import yaml
from documented import CARD, HOUSE, PAGES, blocks, commands, commands_of_help
from space_server import serving
from verbs import invoke, say

# The cards of the metrics run in test_metric_modules_contract.py, in a process without convergebench.
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


def test_python_of_readme_and_card_prints_what_it_promises(place, tmp_path):
    readme = [block.code for block in blocks("README.md") if block.language == "python"]
    assert len(readme) >= 2
    shown = [code for code in readme if not code.startswith("# mine.py")]  # which test_commands.py runs
    assert all(promised(code) for code in shown), "a block shows nothing that could fail"
    text = (place / "convergebench" / "README.md").read_text()
    card = [block.code for block in blocks(CARD, text) if block.language == "python"]
    assert len(card) == len([block for block in blocks(CARD) if block.language == "python"])
    card[0] += "\nprint(steps.num_rows, chains.num_rows, next(iter(stream))['status'])"
    named = tmp_path / "convergebench" / "convergebench"  # the name the card gives it
    named.parent.mkdir()
    named.symlink_to(place / "convergebench")
    lines = printed([(place, readme), (tmp_path, card)], tmp_path / "home")
    assert lines[: len(readme)] == [promised(code) for code in readme]
    assert lines[len(readme)] == ["12 4 input"]


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
