"""The published folder of the Space starts without this checkout and shows the dataset."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import yaml
from convergebench.spaces_app.publishing.space_folder import copy_space_to

INSTALLED = str(Path(np.__file__).parents[1])  # where packages are, without this checkout
HEAVY = {"torch", "datasets", "evaluate", "transformers", "accelerate", "skimage", "click", "rich", "matplotlib"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = copy_space_to(tmp_path_factory.mktemp("published") / "space")
    (out / "convergebench" / "left.py").write_text("raise ValueError('of an earlier copy')")
    return copy_space_to(out)


def test_the_published_folder_imports_nothing_heavy(folder):
    room = folder / "convergebench"
    assert not (room / "left.py").exists()
    assert not [path for path in folder.rglob("*") if path.suffix == ".pyc" or path.is_symlink()]
    modules = [path.relative_to(room).with_suffix("") for path in (room / "spaces_app").rglob("*.py")]
    assert Path("spaces_app/app") not in modules  # the app itself is at the top of the folder
    code = "import sys, gradio; sys.path.insert(0, '.'); loaded_before = set(sys.modules)\n" + "\n".join(
        f"import convergebench.{'.'.join(path.parts)}" for path in modules if path.name != "__init__"
    )
    answer = "[sorted({*sys.modules} - loaded_before), app.served_dataset.__file__]"
    code += f"\nimport app, json; print(json.dumps({answer}))"
    environment = {"PYTHONPATH": INSTALLED, "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    loaded, where = json.loads(done.stdout)
    assert Path(where).resolve().is_relative_to(folder.resolve())
    assert not HEAVY & set(loaded)


def test_a_space_of_another_namespace_names_its_dataset(tmp_path):
    folder = copy_space_to(tmp_path / "space", "NS2/front", "NS2/convergebench", "v1.0.0")
    card = (folder / "README.md").read_text()
    assert "convergebench/convergebench" not in card.replace("NS2/convergebench/convergebench", "")
    assert 'Client("NS2/front")' in card
    named = json.loads((folder / "convergebench/spaces_app/space/published.json").read_text())
    assert named == {"dataset": "NS2/convergebench", "revision": "v1.0.0"}
    head = yaml.safe_load(card.split("---")[1])
    assert head["datasets"] == ["NS2/convergebench"]
    assert (head["sdk"], head["app_file"]) == ("gradio", "app.py")
    pins = dict(line.split("==") for line in (folder / "requirements.txt").read_text().split() if "==" in line)
    assert head["sdk_version"] == pins["gradio"]
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert "gradio>=6.29" in pyproject["project"]["optional-dependencies"]["space"]  # checked by hand
    assert len(head["short_description"]) <= 60
