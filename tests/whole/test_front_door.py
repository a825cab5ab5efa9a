"""The base install works without any extra, and says in one sentence which extra a command needs."""

import importlib.metadata
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import small_dataset
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from wheels import BLOCKED, HEAVY

HOUSE = Path(__file__).parents[2]
VERBS = main.list_commands(None)
COPIES = importlib.metadata.distributions(name="convergebench")
ORIGIN = json.loads(next(filter(None, (copy.read_text("direct_url.json") for copy in COPIES))))["url"]
# Both CI's ordinary install and the editable one are of this checkout, which is on no index.
HERE = f"{sys.executable} -m pip install '{ORIGIN.removeprefix('file://')}"


def run_without(names, *words, **more):
    command = [sys.executable, "-c", BLOCKED, names, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **more)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("data") / "convergebench")


def test_every_verb_explains_itself_without_any_extra():
    code = BLOCKED.replace("sys.exit(main(sys.argv[2:]", "for verb in sys.argv[2:]:\n    (main([verb, '--help']")
    code = code.replace("prog_name=", "standalone_mode=False, prog_name=")
    done = subprocess.run([sys.executable, "-c", code, HEAVY, *VERBS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: convergebench") == len(VERBS)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["report", "DATASET", "--out", "report"], f"matplotlib is not installed: {HERE}'"),
        (["space", "DATASET"], f"is not installed: {HERE}[space]'"),
        (["weights", "lpips"], f"LPIPS needs torch and safetensors, which {HERE}[score]' brings"),
        (["score", "DATASET", "--device", "cuda"], f"device 'cuda' needs torch: {HERE}[score]'"),
        (["generate", "--suite", "smoke", "--editor", "vae"], f"{HERE}[diffusers]'"),
        (["generate", "--suite", "smoke", "--editor", "migan"], f"{HERE}[migan]'"),
        (["score", "DATASET"], f"launched processes need torch: {HERE}"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_a_missing_extra_is_reported_in_one_sentence(words, sentence, dataset, tmp_path, monkeypatch):
    if "launched" in sentence:
        monkeypatch.setenv("WORLD_SIZE", "2")
    done = run_without(HEAVY, *(dataset if word == "DATASET" else word for word in words), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert sentence in done.stderr
    assert not list(tmp_path.glob("runs/*/chains/*"))


def test_lists_name_the_command_that_installs_from_here():
    for kind in ("editors", "metrics"):
        listed = CliRunner().invoke(main, ["list", kind]).stdout
        assert HERE in listed
        assert "pip install 'convergebench" not in listed


def test_the_package_runs_as_a_module_and_says_its_version(tmp_path):
    (tmp_path / "convergebench").mkdir()  # the demo's dataset
    version = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["version"]
    words = [sys.executable, "-m", "convergebench", "--version"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"convergebench, version {version}\n"


@pytest.mark.parametrize(("line", "completed"), [("ver", "verify"), ("publish dataset --dr", "--dry-run")])
def test_the_shell_completes_verbs_and_options(line, completed):
    line = f"convergebench {line}"
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    shell = words | {"_CONVERGEBENCH_COMPLETE": "bash_complete"}
    shell_output = CliRunner().invoke(main, [], prog_name="convergebench", env=shell)
    assert shell_output.output.splitlines() == [f"plain,{completed}"]
