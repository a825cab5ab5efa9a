"""How a run is doing, from its folder alone: while it runs, after it was killed, by shard, and on very many chains."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import stores
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from convergebench.generation import cluster, scheduler, store
from convergebench.generation.calls import Rejected
from convergebench.generation.records import Answer
from convergebench.generation.status import read_status
from counting import Counting, generate, planned


def told(run, *words):
    result = CliRunner().invoke(main, ["status", str(run), *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_finished_run_says_how_its_chains_ended_and_why(tmp_path):
    made = planned(Counting(tmp_path / "asked"), rounds=2, runs=1)
    first, second, *_ = made.chains

    def behave(seed):
        if seed == first.seed(1):
            return Answer(status="refused", reason="policy 4711 forbids it")
        if seed == second.seed(2):
            raise Rejected("HTTP 400: no")
        return None

    generate(planned(Counting(tmp_path / "asked", behave=behave), rounds=2, runs=1), tmp_path / "run")
    found = json.loads(told(tmp_path / "run", "--json"))
    whole = found["whole"]
    assert (whole["chains"], whole["done"], whole["running"], whole["waiting"]) == (4, 4, 0, 0)
    assert whole["ends"] == {"refused": 1, "failed": 1, "complete": 2}
    assert whole["calls_done"] == whole["calls"] == made.calls
    assert found["reasons"] == {"failed": {"HTTP #: no": 1}, "refused": {"policy # forbids it": 1}}
    assert (found["seconds_left"], found["quiet"]) == (0.0, [])
    text = told(tmp_path / "run")
    assert "4 of 4 chains done (2 complete, 1 failed, 1 refused)" in text
    assert "no process is seen" not in text
    assert "     1  policy # forbids it" in text


def test_a_running_run_says_what_runs_and_how_long_it_will_take(tmp_path):
    go = threading.Event()
    made = planned(Counting(tmp_path / "asked", behave=lambda seed: go.wait(90) and None), rounds=2, runs=1)
    thread = threading.Thread(target=lambda: generate(made, tmp_path / "run", workers=3))
    thread.start()
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            found = read_status(tmp_path / "run") if (tmp_path / "run" / "run.json").exists() else None
            if found and found.whole.running == 3:
                break
            time.sleep(0.02)
        assert (found.whole.running, found.whole.waiting, found.whole.done) == (3, 1, 0)
        assert len(found.quiet) == 3
        assert found.seconds_left is None  # nothing was answered yet
        text = told(tmp_path / "run")
        assert "3 running, 1 not begun" in text
        assert "no process is seen" not in text
    finally:
        go.set()
        thread.join()
    assert read_status(tmp_path / "run").whole.done == 4


KILLED = """
import sys, time
from pathlib import Path
from counting import Counting, generate, planned
made = planned(Counting(Path(sys.argv[1]) / "asked", pause=0.1), rounds=4, runs=1)
generate(made, Path(sys.argv[1]) / "run", workers=2)
"""


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="this system does not say who holds a lock")
def test_chains_of_a_killed_process_are_interrupted_not_running(tmp_path):
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], env=here)
    until = time.monotonic() + 60
    while time.monotonic() < until and not list((tmp_path / "run").glob("chains/*/0002.*")):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = read_status(tmp_path / "run")
    assert (found.whole.running, found.calls_a_second) == (0, None)
    assert found.whole.interrupted > 0
    assert found.whole.interrupted + found.whole.waiting + found.whole.done == 4
    assert "no process is working on it" in told(tmp_path / "run")


def test_shards_are_told_apart_and_those_not_started_are_counted(tmp_path):
    made = planned(Counting(tmp_path / "asked"), rounds=1, runs=2)
    for shard in (0, 2):
        mine = cluster.share(made.chains, lambda chain: chain.calls, lambda chain: chain.id, shard, 3)
        scheduler.generate(made, mine, tmp_path / "run", part=(shard, 3))
    found = read_status(tmp_path / "run")
    assert list(found.shards) == ["0/3", "2/3"]
    assert all(part.done == part.chains > 0 for part in found.shards.values())
    assert found.shards_unseen == 1
    assert "shards not started: 1" in told(tmp_path / "run")


def test_cost_is_that_of_the_steps_what_was_asked_again_included(tmp_path):
    moods = {"refuse": True}

    def behave(seed):
        return Answer(status="refused", reason="no", cost=0.5) if moods["refuse"] else None

    made = planned(Counting(tmp_path / "asked", behave=behave), rounds=1, runs=1)
    generate(made, tmp_path / "run")
    moods["refuse"] = False
    generate(made, tmp_path / "run", retry=("refused",))
    assert read_status(tmp_path / "run").whole.spent == store.cost_so_far(tmp_path / "run") == 2.0


def test_the_log_is_lines_of_json_in_the_order_of_time(tmp_path):
    made = planned(Counting(tmp_path / "asked"), rounds=1, runs=1)
    generate(made, tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run" / "log" / "0-of-1.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["started", *["chain_ended"] * 4, "ended"]
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    planned_calls = sum(calls for _, calls in lines[0]["planned"].values())
    assert planned_calls == sum(line["calls"] for line in lines if line["event"] == "chain_ended")


def test_what_is_no_run_is_one_sentence(tmp_path):
    result = CliRunner().invoke(main, ["status", str(tmp_path)])
    assert result.exit_code == 2
    assert "neither a run nor a dataset; give the folder that `generate --out` or `build --out` made" in result.output


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"status": "complete"}', '{"status": "complete", "steps": 1, "cost": "x"}']
)
def test_a_chain_that_cannot_be_read_is_one_sentence(tmp_path, text):
    folder = stores.keep(tmp_path / "run", stores.chain())
    (folder / "done.json").write_text(text)
    result = CliRunner().invoke(main, ["status", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert f"chains/{folder.name} cannot be read (" in result.output
    assert "`convergebench verify` says what is broken" in result.output
