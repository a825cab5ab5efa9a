"""What the harness asks of the other rooms, without Inspect, which has an environment of its own."""

import importlib
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from convergebench import build, score
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import editors


@pytest.fixture
def harness(monkeypatch):
    for name in ("", ".dataset", ".model", ".scorer", ".solver", ".tool"):
        monkeypatch.setitem(sys.modules, f"inspect_ai{name}", MagicMock())
    monkeypatch.setattr(sys.modules["inspect_ai.model"], "ModelAPI", object)
    monkeypatch.delitem(sys.modules, "convergebench.harness.inspect_task", raising=False)
    yield importlib.import_module("convergebench.harness.inspect_task")
    del sys.modules["convergebench.harness.inspect_task"]


def test_a_samples_rows_are_those_of_score(harness, tmp_path):
    api = object.__new__(harness.EditorAPI)
    api.choice, metrics = editors.choose("jpeg"), ["psnr", "ssim"]
    run = harness._Run("smoke", str(tmp_path / "run"), None, metrics, SimpleNamespace(api=api))
    told, rows = [], {}
    for chain in run.chains.values():
        run.steps(chain, lambda step, data: told.append(step))
        found, outcome = run.score(chain.id)
        rows |= {(row["chain"], row["step"]): row for row in found}
        assert outcome.kept >= 0
    dataset = tmp_path / "dataset"
    build(tmp_path / "run", dataset, quiet=True)
    score(dataset, metrics, quiet=True)
    assert rows == {(row["chain"], row["step"]): row for row in Reader(dataset).rows("scores")}
    assert len(told) == len(rows)
