"""Everything published under somebody else's namespace, and used from there by the real clients and by Chromium."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import scored
from chromium import chromium
from convergebench import dataset_builder, generation, metric_modules
from hub_server import HubServer
from space_server import serving
from verbs import say

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


METRICS = sorted(path.parent.name for path in Path(metric_modules.__file__).parent.glob("*/README.md"))
# A test's machine does not have what these download; their page must say so in words, where others show a number.
FETCHED = {"brisque", "niqe"}
RESULT = ".prose table:has(th:text-is('result'))"
DOWNLOAD = """
import sys, huggingface_hub
for name in sys.argv[2:]:
    huggingface_hub.snapshot_download(f"lab/{name}", repo_type="space", local_dir=f"{sys.argv[1]}/{name}")
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A Hub with a dataset, its Space and every metric below `lab/`: a folder, and the environment of its clients."""
    folder = tmp_path_factory.mktemp("lab")
    generation.generate("paint", "smoke", folder / "run", quiet=True)
    dataset_builder.build(folder / "run", folder / "data", quiet=True)
    metric_modules.score(folder / "data", ["psnr", "ssim", "edit_applied"], quiet=True)
    with pytest.MonkeyPatch.context() as patch, HubServer(folder / "hub") as hub:
        patch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        patch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        patch.setenv("HF_TOKEN", hub.token)
        for words in (["dataset", folder / "data", "--repo", "lab/convergebench"], ["metrics", "--repo", "lab"],
                      ["space", "--repo", "lab/front"]):  # fmt: skip
            say("publish", *words, "--tag", "v1.0.0")
        client = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HOME": str(folder / "home")}
        client |= {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
        command = [sys.executable, "-c", DOWNLOAD, folder / "spaces", "front", *METRICS]
        subprocess.run(command, env=os.environ | client, check=True, capture_output=True, timeout=300)
        yield folder, client


@pytest.mark.slow
def test_clients_load_dataset_and_metrics_of_another_namespace(lab):
    folder, client = lab
    modules = [name for name in METRICS if (folder / "spaces" / name / f"{name}.py").exists()]
    done = subprocess.run([sys.executable, "-c", CLIENTS], input=json.dumps(modules), env=os.environ | client,
                          capture_output=True, text=True, cwd=folder, timeout=500)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    rows, status, half_life, psnr, loaded = json.loads(done.stdout.splitlines()[-1])
    assert (rows, status, half_life, psnr) == (16, "input", 3, 100.0)
    assert set(loaded) == set(modules)
    assert len(modules) > 10


@pytest.mark.slow
def test_the_space_of_another_namespace_shows_its_dataset(lab):
    folder, client = lab
    app = folder / "spaces" / "front"
    env = client | {"CONVERGEBENCH_DATASET": "", "PYTHONSAFEPATH": "", "PYTHONPATH": str(app)}
    with (
        serving("", folder / "cache", [sys.executable, str(app / "app.py")], env, wait=400) as server,
        chromium() as browser,
    ):
        page = browser.new_page()
        page.goto(server.address, timeout=300_000)
        page.get_by_text("paint").first.wait_for(timeout=300_000)


@pytest.fixture(scope="module")
def metric_spaces(lab):
    """Every metric's Space as the Hub's client fetches it, with three pictures and random weights."""
    folder, _ = lab
    scored.lpips_weights(folder / "cache")
    scored.clip_model(folder / "clip")
    for number in (1, 2, 3):
        (folder / f"{number}.png").write_bytes(scored.encoded(scored.picture(number, (320, 240))))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", METRICS)
def test_metric_pages_work_under_another_namespace(name, metric_spaces):
    folder = metric_spaces / "spaces" / name
    command = [sys.executable, "-P", str(HOUSE / "tests" / "space_alone.py"), str(folder)]
    env = {"XDG_CACHE_HOME": str(metric_spaces / "cache"), "HF_HOME": str(metric_spaces / "home")}
    env |= {"PIP_NO_INDEX": "1", "PYTHONSAFEPATH": "", "PYTHONPATH": ""}
    pictures = [metric_spaces / f"{number}.png" for number in (1, 2, 3)]
    with serving("", metric_spaces / "log" / name, command, env, wait=300) as server:
        result, problem = measured_in_browser(server.address, pictures, str(metric_spaces / "clip"))
    if name in FETCHED:
        assert "could not be downloaded" in problem
    else:
        assert problem == ""
        assert re.search(r"\d|: (yes|no)\b", result), result


def measured_in_browser(address, pictures, model):
    """Upload pictures if the page takes any and press its button; its result and its error message."""
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
