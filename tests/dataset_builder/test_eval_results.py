"""The dataset registers itself as a benchmark, and the headline can go to the models it is about."""

import json
from pathlib import Path

import huggingface_hub
import pytest
import stores
import yaml
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from convergebench.dataset_builder.building import build as building
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.publishing import publish, results
from convergebench.generation import store_reader
from convergebench.generation.records import Chain, UserError
from hub_fixtures import REPO
from huggingface_hub.errors import HfHubHTTPError

pytest_plugins = ["hub_fixtures"]

BENCHMARK = (Path(__file__).parents[2] / "docs" / "eval.yaml").read_text()


def test_results_are_entries_for_the_editors_that_have_a_model_repository(tmp_path):
    for editor, model in (("diffusers", "org/Editor-1"), ("diffusers:steps=8", "org/Editor-1"), ("paint", None)):
        base = stores.chain(editor)
        made = Chain(base.source, base.program, editor, {"model": model} if model else {}, 1, 1)
        stores.keep(tmp_path / "run", made)
    building.build(store_reader.find_finished([tmp_path / "run"]), tmp_path / "out")
    board = [{"editor": "diffusers", "group": "round trips", "rounds_kept": 3.25}]
    board += [{"editor": "diffusers:steps=8", "group": "round trips", "rounds_kept": 2.0}]
    board += [{"editor": "paint", "group": "round trips", "rounds_kept": 9.0}]
    board += [{"editor": "diffusers", "group": "replication", "rounds_kept": 1.0}]
    stores.write(tmp_path / "leaderboard.json", json.dumps({"rows": board}))
    board = tmp_path / "leaderboard.json"
    written = results.write_results(tmp_path / "out", tmp_path / "results", board, REPO, "a" * 40, "2026-01-01")
    assert list(written) == ["org/Editor-1"]
    entries = huggingface_hub.hf_api.parse_eval_result_entries(yaml.safe_load(written["org/Editor-1"].read_text()))
    assert [(entry.value, entry.notes) for entry in entries] == [(3.25, None), (2.0, "diffusers:steps=8")]
    assert {entry.task_id for entry in entries} == {task["id"] for task in yaml.safe_load(BENCHMARK)["tasks"]}


@pytest.mark.parametrize("model", ["../elsewhere", "/etc", "a/b/c", ".hidden/x", "a/..", "a/b\n", r"a\b/c"])
def test_a_model_that_is_no_repository_gets_no_file(tmp_path, model):
    base = stores.chain("diffusers")
    stores.keep(tmp_path / "run", Chain(base.source, base.program, "diffusers", {"model": model}, 1, 1))
    building.build(store_reader.find_finished([tmp_path / "run"]), tmp_path / "out")
    assert results.model_repos(tmp_path / "out") == {}


def test_the_ready_eval_yaml_is_taken_by_the_hub_and_one_with_other_fields_is_not(hub, api):
    api.create_repo(REPO, repo_type="dataset")
    about = {"path_in_repo": "eval.yaml", "repo_id": REPO, "repo_type": "dataset"}
    api.upload_file(path_or_fileobj=BENCHMARK.encode(), **about)
    for words, fault in (
        (BENCHMARK + "metrics: []\n", "unknown fields"),
        (BENCHMARK.replace("inspect-ai", "convergebench"), "unknown evaluation_framework"),
    ):
        with pytest.raises(HfHubHTTPError, match=fault):
            api.upload_file(path_or_fileobj=words.encode(), **about)


def test_a_published_dataset_leaves_its_owners_eval_yaml_alone(hub, api, folder):
    publish.publish(api, folder, REPO, "v1.0.0")
    api.upload_file(path_or_fileobj=BENCHMARK.encode(), path_in_repo="eval.yaml", repo_id=REPO, repo_type="dataset")
    card.write(folder, REPO, versions="Another card.")
    plans = []
    publish.publish(api, folder, REPO, "v1.0.1", report=plans.append)
    assert plans[0].foreign == ("eval.yaml",)
    assert hub.store.contents("dataset", REPO, "v1.0.1")["eval.yaml"] == BENCHMARK.encode()


def test_results_are_proposed_as_pull_requests_and_a_dry_run_opens_none(hub, api, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda **words: api)
    base = stores.chain("diffusers")
    stores.keep(tmp_path / "run", Chain(base.source, base.program, "diffusers", {"model": "org/Editor-1"}, 1, 1))
    building.build(store_reader.find_finished([tmp_path / "run"]), tmp_path / "out")
    board = {"rows": [{"editor": "diffusers", "group": "round trips", "rounds_kept": 3.25}]}
    stores.write(tmp_path / "leaderboard.json", json.dumps(board))
    api.create_repo("org/Editor-1")
    words = ["publish", "dataset", "out", "--repo", REPO, "--tag", "v1.0.0", "--results", "leaderboard.json"]
    told = CliRunner().invoke(main, [*words, "--propose", "--dry-run"], catch_exceptions=False)
    assert "org/Editor-1: a pull request would be opened" in told.stdout
    assert list(hub.store.repo("model", "org/Editor-1").branches) == ["main"]
    told = CliRunner().invoke(main, [*words, "--propose"], catch_exceptions=False)
    assert f"org/Editor-1: a pull request is open at {hub.url}/org/Editor-1/discussions/1" in told.stdout
    there = hub.store.contents("model", "org/Editor-1", "refs/pr/1")
    assert yaml.safe_load(there[".eval_results/convergebench.yaml"])[0]["value"] == 3.25
    assert ".eval_results/convergebench.yaml" not in hub.store.contents("model", "org/Editor-1", "main")
    theirs = {"path_or_fileobj": b"theirs", "path_in_repo": ".eval_results/convergebench.yaml"}
    api.upload_file(**theirs, repo_id="org/Editor-1")
    refused = CliRunner().invoke(main, [*words, "--propose"])
    assert (refused.exit_code, "which this benchmark did not write" in refused.output) == (2, True)
    assert set(hub.store.repo("model", "org/Editor-1").branches) == {"main", "refs/pr/1"}
    stores.write(tmp_path / "eval_results" / "org" / "Editor-1" / ".eval_results" / "convergebench.yaml", "theirs")
    refused = CliRunner().invoke(main, words)
    assert (refused.exit_code, "convergebench.yaml was not written by this benchmark" in refused.output) == (2, True)
    told = CliRunner().invoke(main, [*words[:-2], "--propose"])
    assert told.exit_code == 2
    assert "give them with --results" in told.stderr


def test_a_file_that_is_no_leaderboard_is_one_sentence(tmp_path):
    stores.write(tmp_path / "board.json", "{}")
    with pytest.raises(UserError, match=r"board\.json is not a leaderboard; `convergebench report` writes"):
        results.read_leaderboard(tmp_path / "board.json")
