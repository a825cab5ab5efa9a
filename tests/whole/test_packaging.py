"""The wheel and the source distribution are complete and work without the checkout; the base install needs no extra."""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import small_dataset
import wheels
from convergebench.cli.__main__ import main
from verbs import say

HOUSE = Path(__file__).parents[2]
ROOMS = ("generation", "dataset_builder", "metric_modules", "spaces_app", "harness", "cli")
PYPROJECT = tomllib.loads((HOUSE / "pyproject.toml").read_text())
HEAVY = "torch,accelerate,safetensors,transformers,diffusers,matplotlib,gradio,plotly,onnxruntime"
# Runs the command where the modules named first cannot be imported.
BLOCKED = """
import sys
names = set(sys.argv[1].split(","))
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in names else real(name, *rest)
from convergebench.cli.__main__ import main
sys.exit(main(sys.argv[2:], prog_name="convergebench"))
"""


def test_every_distribution_is_pinned():
    lines = [line for line in (HOUSE / "constraints.txt").read_text().splitlines() if line and line[0] != "#"]
    assert all(line.count("==") == 1 for line in lines)
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    assert "torchvision" not in pinned
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    wanted = [*PYPROJECT["project"]["dependencies"], *(word for extra in extras for word in extra)]
    names = {word.split("[")[0].split(">")[0].split("=")[0].lower().replace("_", "-") for word in wanted}
    assert names - pinned == {"convergebench"}  # an extra may name other extras


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheels.build_wheel(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_every_file_and_requires_no_torch(wheel):
    archive = zipfile.ZipFile(wheel)
    held = set(archive.namelist())
    for room in ROOMS:
        for path in (HOUSE / room).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"convergebench/{path.relative_to(HOUSE).as_posix()}" in held
        assert f"convergebench/{room}/py.typed" in held
    assert {"convergebench/__main__.py", "convergebench/__init__.py"} <= held
    [name] = [name for name in held if name.endswith("METADATA")]
    lines = [line for line in archive.read(name).decode().splitlines() if line.startswith("Requires-Dist")]
    base = {re.match(r"[\w-]+", line.split()[1])[0] for line in lines if ";" not in line}
    assert {"httpx2", "jinja2", "matplotlib", "pyyaml"} <= base
    assert not base & {"accelerate", "gradio", "safetensors", "torch", "transformers"}
    assert not any("lpips" in line or "torchvision" in line for line in lines)


def test_the_wheel_alone_runs_the_demo_without_torch(wheel, tmp_path):
    installed, work = tmp_path / "installed", tmp_path / "work"
    work.mkdir()
    words = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", installed, wheel]
    subprocess.run([sys.executable, *map(str, words)], check=True, capture_output=True)
    alone = {"HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "https_proxy": "http://127.0.0.1:9"}
    caches = {"HF_HOME": str(tmp_path / "hf"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment = {**os.environ, **alone, **caches, "PYTHONPATH": str(installed)}
    names = HEAVY.replace("matplotlib,", "")
    done = run_without(names, "demo", "--suite", "smoke", cwd=work, env=environment)
    assert done.returncode == 0, done.stderr
    assert "Look at:" in done.stdout
    assert f"pip install '{wheel}[score]'" in done.stderr, "the command that installs from here"
    assert "continuing without LPIPS: LPIPS needs torch and safetensors, which " in done.stderr
    assert re.search("not computed: .*lpips.*needs torch and safetensors", done.stdout)
    assert "not computed: clip, because CLIP needs torch and transformers" in done.stdout
    assert " space convergebench" not in done.stdout, "gradio cannot be imported"
    assert (work / "convergebench" / "README.md").exists()
    where = [sys.executable, "-c", "import convergebench.generation as room; print(room.__file__)"]
    place = subprocess.check_output(where, cwd=work, env=environment, text=True)
    assert Path(place.strip()).is_relative_to(installed)


def test_the_source_distribution_is_complete_without_links(tmp_path):
    copy = tmp_path / "house"
    ignore = shutil.ignore_patterns(".*", "build", "runs", "convergebench", "report", "*.egg-info", "__pycache__")
    shutil.copytree(HOUSE, copy, symlinks=True, ignore=ignore)
    code = f"import setuptools.build_meta as backend; print(backend.build_sdist({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=copy, capture_output=True, text=True, check=True)
    with tarfile.open(tmp_path / done.stdout.splitlines()[-1]) as archive:
        held = {member.name.partition("/")[2]: member for member in archive.getmembers()}
    rooms = (*ROOMS, "tests", "docs", "package")
    wanted = {path.relative_to(copy).as_posix() for room in rooms for path in (copy / room).rglob("*")
              if path.is_file() and "__pycache__" not in path.parts and "egg-info" not in str(path)}  # fmt: skip
    wanted |= {"CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "Makefile", "constraints.txt"}
    assert wanted - held.keys() == set()
    assert [name for name, member in held.items() if member.issym() or member.islnk()] == []


def test_every_extra_is_in_the_docs():
    page = (HOUSE / "docs" / "install.md").read_text()
    assert [name for name in wheels.extras() if name and f"`[{name}]`" not in page] == []


# The base install works without any extra, and says in one sentence which extra a command needs

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
    verbs = main.list_commands(None)
    code = BLOCKED.replace("sys.exit(main(sys.argv[2:]", "for verb in sys.argv[2:]:\n    (main([verb, '--help']")
    code = code.replace("prog_name=", "standalone_mode=False, prog_name=")
    done = subprocess.run([sys.executable, "-c", code, HEAVY, *verbs], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: convergebench") == len(verbs)


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
        listed = say("list", kind)
        assert HERE in listed
        assert "pip install 'convergebench" not in listed
