"""A model of another environment behind the server of docs/servers.md, asked as an editor."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from convergebench import generation

SERVER = Path(__file__).parents[2] / "docs" / "edit_server.py"
MODEL = """
def edit(image, instruction, seed):
    if "glasses" in instruction:
        raise RuntimeError("no glasses here")
    return image
"""


@pytest.fixture
def server(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    words = [sys.executable, "-I", SERVER, tmp_path / "model.py", "0", "stand-in"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def test_a_model_behind_the_example_server_is_an_editor(server, tmp_path):
    outcome = generation.generate(
        f"openai:base_url={server},model=stand-in", suite="smoke", out=tmp_path / "run", rounds=1, quiet=True
    )
    assert outcome.stopped is None
    assert outcome.ends == {"complete": 3, "failed": 1}
    told = [json.loads(line) for path in tmp_path.glob("run/chains/*/steps.jsonl") for line in path.open()]
    assert any("no glasses here" in (step.get("reason") or "") for step in told)
