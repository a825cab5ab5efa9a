"""`convergebench list metrics` says of every metric what it measures and what is missing."""

import importlib
import json
from pathlib import Path

import pytest
from convergebench.cli.look_up import list_metrics
from convergebench.metric_modules.specs import scored_specs
from verbs import invoke, say

HOUSE = Path(__file__).parents[2]


def test_metrics_are_listed_by_name_in_the_words_of_cards():
    rows = json.loads(say("list", "metrics", "--json"))
    folders = sorted(path.parent.name for path in HOUSE.glob("metric_modules/*/spec.py"))
    assert sorted({row["folder"] for row in rows}) == folders
    for row in rows:
        if (HOUSE / "metric_modules" / row["folder"] / "README.md").exists():
            assert 20 < len(row["measures"]) <= 60, "the Hub shows 60 characters of a short_description"
    assert {row["name"] for row in rows if row["kind"] != "statistic"} == set(scored_specs())
    [halflife] = [line for line in say("list", "metrics").splitlines() if line.startswith("halflife ")]
    assert "; from numbers; " in halflife


def test_weights_that_are_not_there_are_named_with_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "lpips            " in (said := say("list", "metrics"))
    assert "needs `convergebench weights lpips`" in said


@pytest.mark.parametrize("there", [True, False])
def test_clip_is_ready_only_with_its_weights(monkeypatch, tmp_path, there):
    looked_for = str(tmp_path / "model.safetensors") if there else None
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *given, **kwargs: looked_for)
    rows = {row["name"]: row for row in json.loads(say("list", "metrics", "--json"))}
    assert (rows["clip"]["missing"] is None) == there


def test_a_statistic_needs_no_page_to_be_computed(monkeypatch):
    absent = ("gradio", "torch", "accelerate")
    monkeypatch.setattr("importlib.metadata.distributions", lambda name: [name] * (name not in absent))
    for name in ("halflife", "contraction", "psnr", "ssim", "registration", "edit_applied"):
        assert list_metrics._missing_packages(HOUSE / "metric_modules" / name) is None, name


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("importlib.metadata.distributions", lambda name: [name] * (name != "numpy"))
    assert list_metrics._missing_packages(HOUSE / "metric_modules" / "psnr") == "needs pip install numpy"


def test_all_weights_are_fetched_by_one_command(monkeypatch):
    from convergebench.metric_modules.dists import measure as dists

    names = ["brisque", "dists", "face_identity", "lpips", "niqe"]
    for name in names:
        module = importlib.import_module(f"convergebench.metric_modules.{name}.measure")
        monkeypatch.setattr(module, "fetch_weights", lambda say, name=name: {name: {"file": f"{name}.bin"}})
    assert list(json.loads(say("weights", "--all", "--json"))) == names
    for words in (["weights"], ["weights", "lpips", "--all"]):
        assert invoke(*words).exit_code == 2
    monkeypatch.setattr(dists, "fetch_weights", lambda say: (_ for _ in ()).throw(OSError("away")))
    others = invoke("weights", "--all", "--json")
    assert (others.exit_code, others.stderr) == (1, "Error: away\n")
    assert "niqe" in json.loads(others.stdout), "one that cannot be had does not keep the others away"
