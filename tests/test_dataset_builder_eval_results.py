"""The dataset registers itself as a benchmark, and the headline can go to the models it is about."""

import json

import huggingface_hub
import pytest
import stores
import yaml
from convergebench.dataset_builder.building import build as building
from convergebench.dataset_builder.publishing import eval_results
from convergebench.generation import store_reader
from convergebench.generation.records import Chain, UserError
from hub_fixtures import REPO


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
    values = eval_results.leaderboard_values(tmp_path / "leaderboard.json")
    written = eval_results.write_results(tmp_path / "out", tmp_path / "results", values, REPO, "a" * 40, "2026-01-01")
    assert list(written) == ["org/Editor-1"]
    entries = huggingface_hub.hf_api.parse_eval_result_entries(yaml.safe_load(written["org/Editor-1"].read_text()))
    assert [(entry.value, entry.notes) for entry in entries] == [(3.25, None), (2.0, "diffusers:steps=8")]
    registered = yaml.safe_load((tmp_path / "out/eval.yaml").read_text())
    assert {entry.task_id for entry in entries} == {task["id"] for task in registered["tasks"]}
    assert registered["tasks"][0]["config"] == "steps"


def test_a_file_that_is_no_leaderboard_is_one_sentence(tmp_path):
    stores.write(tmp_path / "board.json", "{}")
    with pytest.raises(UserError, match=r"board\.json is no leaderboard; `convergebench report` writes"):
        eval_results.leaderboard_values(tmp_path / "board.json")
