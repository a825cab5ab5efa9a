"""A report's results for others: `.eval_results` for model repositories, and eval.yaml."""

import json
from pathlib import Path

import huggingface_hub
import jsonschema
import kept_numbers
import pytest
import stores
import yaml
from convergebench.dataset_builder.publishing import results
from convergebench.generation.records import Chain
from hub_fixtures import REPO
from verbs import invoke

pytest_plugins = ["hub_fixtures"]

BENCHMARK = (Path(__file__).parents[2] / "docs" / "eval.yaml").read_text()
# The rules of the public schema, in few words: what it says in prose is left out.
SCHEMA = json.loads(Path(__file__).with_name("every_eval_ever.json").read_text())
PUBLISHED = ("publish", "results", "board.json", "--dataset", "out", "--repo", REPO)
ROW = {
    "editor": "diffusers",
    "group": "round trips",
    "name": "convergence",
    "rank": None,
    "cause": "quality (40%)",
}
ROW |= {"rounds_kept": 1.25, "rounds_kept_low": 1.0, "rounds_kept_high": 1.5}
ROW |= {"survival": 0.5, "cases": 4, "sources": 2}


def built(folder, models):
    """A dataset of editors with these model settings."""
    for editor, model in models.items():
        base = stores.chain(editor)
        settings = {"model": model} if model else {}
        stores.keep(folder / "run", Chain(base.source, base.program, editor, settings, 1, 2))
    stores.built(folder / "out", folder / "run")
    return folder


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stores.write(tmp_path / "board.json", json.dumps({"rows": [ROW, ROW | {"editor": "elsewhere"}]}))
    return built(tmp_path, {"diffusers": "org/Editor-1"})


def test_results_are_for_editors_with_a_model_repository(tmp_path):
    built(tmp_path, {"diffusers": "org/Editor-1", "diffusers:steps=8": "org/Editor-1", "paint": None})
    kept = {"diffusers": 3.21987, "diffusers:steps=8": 2.0, "paint": 9.0}
    rows = [{"editor": editor, "group": "round trips", "rounds_kept": value} for editor, value in kept.items()]
    rows += [{"editor": "diffusers", "group": "replication", "rounds_kept": 1.0}]
    board = tmp_path / "leaderboard.json"
    stores.write(board, json.dumps({"rows": rows}))
    source = {"dataset_id": REPO, "dataset_revision": "a" * 40, "date": "2026-01-01"}
    source["source_url"] = f"https://huggingface.co/datasets/{REPO}"
    editors, rows = results.chains_by_editor(tmp_path / "out"), results.read_leaderboard(board)
    written = results.write_results(editors, rows, tmp_path / "results", source)
    assert list(written) == ["org/Editor-1"]
    entries = huggingface_hub.hf_api.parse_eval_result_entries(
        yaml.safe_load(written["org/Editor-1"].read_text())
    )
    assert [(entry.value, entry.notes) for entry in entries] == [(3.2199, None), (2.0, "diffusers:steps=8")]
    benchmark = yaml.safe_load(BENCHMARK)  # the fields that the Hub accepts
    assert set(benchmark) <= {"name", "description", "evaluation_framework", "tasks"}
    assert [set(task) for task in benchmark["tasks"]] == [{"id", "config", "split"}]
    assert {entry.task_id for entry in entries} == {task["id"] for task in benchmark["tasks"]}


@pytest.mark.parametrize("model", ["../elsewhere", "/etc", "a/b/c", ".hidden/x", "a/..", "a/b\n", r"a\b/c"])
def test_a_model_or_label_that_leads_elsewhere_stays_in_the_folder(tmp_path, model):
    editor, out = "../../../elsewhere:x=1", tmp_path / "records"
    editors = results.chains_by_editor(built(tmp_path, {editor: model}) / "out")
    assert results.write_results(editors, [ROW | {"editor": editor}], tmp_path / "results", {}) == {}
    written = results.write_records(editors, [ROW | {"editor": editor}], out, {}, "NS/x", 0)
    [path] = written.values()
    assert path.resolve().is_relative_to(out / "data" / "convergebench")


def test_a_strangers_results_file_is_refused(dataset):
    stores.write(dataset / "eval_results" / "org" / "Editor-1" / ".eval_results" / "convergebench.yaml", "theirs")
    refused = invoke(*PUBLISHED)
    assert refused.exit_code == 2
    assert "convergebench.yaml was not written by this benchmark" in refused.output


def test_records_are_valid_in_the_schema(dataset):
    words = [*PUBLISHED, "--organization", "A laboratory", "--json"]
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    [(editor, path)] = json.loads(done.stdout)["records"].items()
    assert (editor, path.rpartition("/")[0]) == ("diffusers", "every_eval_ever/data/convergebench/org/Editor-1")
    made = json.loads((dataset / path).read_text())
    jsonschema.validate(made, SCHEMA)
    kept_numbers.check("records", {"results": made["evaluation_results"]})
    kept, survival = made["evaluation_results"]
    assert kept["metric_config"]["max_score"] == 2.0
    assert survival["metric_config"]["max_score"] == 1.0
    assert kept["source_data"]["hf_repo"] == REPO
    assert made["source_metadata"]["evaluator_relationship"] == "third_party"
    assert json.loads(invoke(*words).stdout) == json.loads(done.stdout)
    assert invoke(*words, "--relationship", "friends").exit_code == 2
    (dataset / "board.json").write_text("{}")
    assert "board.json is not a leaderboard" in invoke(*words).stderr
