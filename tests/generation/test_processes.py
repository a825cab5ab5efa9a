"""Several processes share a run; one that believes it is alone when it is not refuses to start."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from convergebench.generation.records import UserError
from convergebench.generation.shares import rank_and_size

WORDS = ["--suite", "smoke", "--editor", "jpeg", "--rounds", "1", "--out", "run"]


def test_a_rank_that_sees_too_few_processes_refuses(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    alone = SimpleNamespace(num_processes=1, process_index=0)
    monkeypatch.setattr("accelerate.PartialState", lambda cpu, timeout: alone)
    with pytest.raises(UserError, match=r"2 processes were launched but each sees 1; .* launch with --multi_gpu"):
        rank_and_size()


def test_ranks_that_cannot_meet_are_one_sentence(monkeypatch):
    for name, value in {"WORLD_SIZE": "2", "RANK": "0", "LOCAL_RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(UserError, match=r"2 processes were launched but cannot meet: .*MASTER_ADDR"):
        rank_and_size()


@pytest.mark.slow
def test_two_launched_processes_share_the_chains(tmp_path):
    words = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"]
    result = subprocess.run(
        [*words, "-m", "convergebench.generation", *WORDS], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    said = [line for line in result.stdout.splitlines() if "complete" in line]
    done = list((tmp_path / "run" / "chains").glob("*/done.json"))
    assert len(said) == 2
    assert sum(int(line.split(":")[1].split()[0]) for line in said) == len(done)
    assert all(int(line.split(":")[1].split()[0]) > 0 for line in said)
