"""Everything published under somebody else's namespace, and used from there by the real clients and by Chromium."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from convergebench import dataset_builder, generation, metric_modules
from convergebench.cli.__main__ import main
from convergebench.metric_modules.specs import specs
from hub_server import HubServer
from space_server import serving
from test_spaces_app_space_browser import CHROMIUM, FLAGS

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
def test_published_under_another_namespace_all_of_it_loads_and_starts_from_there(tmp_path, monkeypatch):
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
            about = environment | {"CONVERGEBENCH_DATASET": "", "PYTHONSAFEPATH": ""}
            with serving("", tmp_path / "cache", [sys.executable, str(folder / "app.py")], about, wait=400) as server:
                assert seen in text_of(server.address, seen)


def is_module(folder):
    """Whether a metric is one that `evaluate` loads."""
    return any((Path(root) / folder / f"{folder}.py").exists() for root in metric_modules.__path__)


def text_of(address, awaited):
    """What a visitor reads there, once a word has come."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.goto(address, timeout=300_000)
        page.get_by_text(awaited).first.wait_for(timeout=300_000)
        text = page.inner_text("body")
        browser.close()
    return text
