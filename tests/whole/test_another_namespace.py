"""A dataset and every metric published under somebody else's namespace, and used from there by the real clients."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from convergebench import metric_modules
from verbs import say

pytest_plugins = ["hub_fixtures"]

CLIENTS = """
import json, sys
import datasets, evaluate
scores = datasets.load_dataset("lab/convergebench", "scores", split="test", revision="v1.0.0")
steps = datasets.load_dataset("lab/convergebench", split="test", streaming=True)
first = next(iter(steps))
loaded = [evaluate.load(f"lab/{name}").name for name in json.load(sys.stdin)]
halflife = evaluate.load("lab/halflife").compute(predictions=[[0.9, 0.7, 0.4, 0.3, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1]])
psnr = evaluate.load("lab/psnr").compute(predictions=[first["image"]], references=[first["image"]])
print(json.dumps([scores.num_rows, first["status"], halflife["half_life"], psnr["psnr"], loaded]))
"""
MODULES = sorted(path.parent.name for path in Path(metric_modules.__file__).parent.glob("*/README.md"))


@pytest.mark.slow
def test_clients_load_dataset_and_metrics_of_another_namespace(hub, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", hub.token)
    say("publish", "dataset", folder, "--repo", "lab/convergebench", "--tag", "v1.0.0")
    say("publish", "metrics", "--repo", "lab", "--tag", "v1.0.0")
    client = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HOME": str(tmp_path / "home")}
    client |= {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
    done = subprocess.run([sys.executable, "-c", CLIENTS], input=json.dumps(MODULES), env=os.environ | client,
                          capture_output=True, text=True, cwd=tmp_path, timeout=500)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == [8, "input", 3, 100.0, MODULES]
