"""Everything published under somebody else's namespace, and used from there by the real clients and by Chromium."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import scored
from chromium import chromium
from click.testing import CliRunner
from convergebench import dataset_builder, generation, metric_modules
from convergebench.cli.__main__ import main
from convergebench.metric_modules.specs import specs
from hub_server import HubServer
from space_server import serving

HOUSE = Path(__file__).parents[2]
CLIENTS = """
import io, json, sys
import datasets, evaluate
from PIL import Image
scores = datasets.load_dataset("lab/convergebench", "scores", split="test", revision="v1.0.0")
steps = datasets.load_dataset("lab/convergebench", split="test", streaming=True)
first = next(iter(steps))
loaded = {}
for name in json.load(sys.stdin):
    loaded[name] = evaluate.load(f"lab/{name}").name
halflife = evaluate.load("lab/halflife").compute(predictions=[[0.9, 0.7, 0.4, 0.3, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1]])
psnr = evaluate.load("lab/psnr").compute(predictions=[first["image"]], references=[first["image"]])
print(json.dumps([scores.num_rows, first["status"], halflife["half_life"], psnr["psnr"], loaded]))
"""


@pytest.mark.slow
def test_everything_works_under_another_namespace(tmp_path, monkeypatch):
    generation.generate("paint", "smoke", tmp_path / "run", quiet=True)
    dataset_builder.build(tmp_path / "run", tmp_path / "data", quiet=True)
    metric_modules.score(tmp_path / "data", ["psnr", "ssim", "edit_applied"], quiet=True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with HubServer(tmp_path / "hub") as hub:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        monkeypatch.setenv("HF_TOKEN", hub.token)
        for words in (
            ["dataset", str(tmp_path / "data"), "--repo", "lab/convergebench"],
            ["metrics", "--repo", "lab"],
            ["space", "--repo", "lab/front"],
        ):
            done = CliRunner().invoke(main, ["publish", *words, "--tag", "v1.0.0"])
            assert done.exit_code == 0, done.output
        metrics = sorted(spec.folder for spec in specs().values() if is_module(spec.folder))
        environment = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HOME": str(tmp_path / "home")}
        environment |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0"}
        done = subprocess.run([sys.executable, "-c", CLIENTS], input=json.dumps(metrics), env=os.environ | environment,
                              capture_output=True, text=True, cwd=tmp_path, timeout=500)  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        rows, status, half_life, psnr, loaded = json.loads(done.stdout.splitlines()[-1])
        assert (rows, status, half_life, psnr) == (16, "input", 3, 100.0)
        assert set(loaded) == set(metrics)
        assert len(metrics) > 10
        for repo, seen in (("lab/front", "paint"), ("lab/psnr", "Measure"), ("lab/halflife", "Half-life")):
            folder = tmp_path / "spaces" / repo
            for path, data in hub.store.contents("space", repo, "v1.0.0").items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
            about = environment | {"CONVERGEBENCH_DATASET": "", "PYTHONSAFEPATH": "", "PYTHONPATH": str(folder)}
            with serving("", tmp_path / "cache", [sys.executable, str(folder / "app.py")], about, wait=400) as server:
                assert seen in text_of(server.address, seen)


METRICS = sorted(path.parent.name for path in Path(metric_modules.__file__).parent.glob("*/README.md"))
# What these fetch once is on no machine of a test: their page must say so, in words, where others show a number.
FETCHED = {"brisque", "niqe"}
RESULT = ".prose table:has(th:text-is('result'))"
DOWNLOAD = """
import sys, huggingface_hub
for name in sys.argv[2:]:
    huggingface_hub.snapshot_download(f"lab/{name}", repo_type="space", local_dir=f"{sys.argv[1]}/{name}")
"""


@pytest.fixture(scope="module")
def metric_spaces(tmp_path_factory):
    """Every metric published to a Hub under another namespace, and fetched from there by the Hub's own client."""
    folder = tmp_path_factory.mktemp("metrics")
    with pytest.MonkeyPatch.context() as patch, HubServer(folder / "hub") as hub:
        patch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        patch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        patch.setenv("HF_TOKEN", hub.token)
        done = CliRunner().invoke(main, ["publish", "metrics", "--repo", "lab", "--tag", "v1.0.0"])
        assert done.exit_code == 0, done.output
        about = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "0"}
        words = [sys.executable, "-c", DOWNLOAD, folder / "spaces", *METRICS]
        about |= {"HF_HUB_DISABLE_XET": "1"}
        subprocess.run(words, env=os.environ | about, check=True, capture_output=True, timeout=300)
    scored.lpips_weights(folder / "cache")  # at random
    scored.clip_model(folder / "clip")
    for number in (1, 2, 3):
        (folder / f"{number}.png").write_bytes(scored.encoded(scored.picture(number, (320, 240))))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", METRICS)
def test_metric_pages_work_under_another_namespace(name, metric_spaces):
    folder = metric_spaces / "spaces" / name
    command = [sys.executable, "-P", str(HOUSE / "tests" / "space_alone.py"), str(folder)]
    about = {"XDG_CACHE_HOME": str(metric_spaces / "cache"), "HF_HOME": str(metric_spaces / "home")}
    about |= {"PIP_NO_INDEX": "1", "PYTHONSAFEPATH": "", "PYTHONPATH": ""}
    pictures = [metric_spaces / f"{number}.png" for number in (1, 2, 3)]
    with serving("", metric_spaces / "log" / name, command, about, wait=300) as server:
        said, problem = measured_in_browser(server.address, pictures, str(metric_spaces / "clip"))
    if name in FETCHED:
        assert "did not arrive" in problem
    else:
        assert problem == ""
        assert re.search(r"\d|: (yes|no)\b", said), said


@pytest.mark.slow
def test_a_metric_page_needs_its_own_requirements(metric_spaces):
    folder = metric_spaces / "lacking"
    shutil.copytree(metric_spaces / "spaces" / "registration", folder)
    wanted = (folder / "requirements.txt").read_text().splitlines()
    (folder / "requirements.txt").write_text("\n".join(line for line in wanted if "opencv" not in line))
    command = [sys.executable, "-P", str(HOUSE / "tests" / "space_alone.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "No module named 'cv2'" in done.stderr


def measured_in_browser(address, pictures, model):
    """Give the page pictures where it takes any, press its button: what it says, and what it complains of."""
    with chromium() as browser:
        page = browser.new_page()
        page.goto(address, timeout=300_000)
        button = page.get_by_role("button", name="Measure")
        button.wait_for(timeout=300_000)
        page.wait_for_load_state("networkidle", timeout=300_000)  # some begin with an example
        for picture in pictures[: page.locator("input[type=file]").count()]:
            page.locator("input[type=file]").first.set_input_files(str(picture))  # the first that is still empty
            page.wait_for_load_state("networkidle")
        if "checkpoint" in page.get_by_label("Arguments").input_value():
            page.get_by_label("Arguments").fill(json.dumps({"checkpoint": model}))
        button.click()
        problem = page.locator(".toast-body.error")
        page.locator(RESULT).or_(problem).first.wait_for(timeout=300_000)
        page.wait_for_load_state("networkidle")
        return " ".join(page.locator(RESULT).all_inner_texts()), " ".join(problem.all_inner_texts())


def is_module(folder):
    return any((Path(root) / folder / f"{folder}.py").exists() for root in metric_modules.__path__)


def text_of(address, awaited):
    with chromium() as browser:
        page = browser.new_page()
        page.goto(address, timeout=300_000)
        page.get_by_text(awaited).first.wait_for(timeout=300_000)
        return page.inner_text("body")
