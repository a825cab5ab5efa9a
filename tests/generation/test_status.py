"""How a run is doing, from its folder alone: while it runs, after it was killed, by shard, and on very many chains."""

import json
import multiprocessing
import threading
import time
from pathlib import Path

import pytest
import stores
from convergebench.generation import scheduler
from convergebench.generation.calls import Rejected
from convergebench.generation.records import Answer
from convergebench.generation.status import read_status
from counting import Counting, generate, planned
from verbs import invoke


def told(run, *words):
    result = invoke("status", run, *words)
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
    assert [whole[end] for end in ("refused", "failed", "complete")] == [1, 1, 2]
    assert whole["calls_done"] == whole["calls"] == sum(chain.calls for chain in made.chains)
    assert found["reasons"] == {"failed": {"HTTP #: no": 1}, "refused": {"policy # forbids it": 1}}
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
            if found and found["whole"]["running"] == 3:
                break
            time.sleep(0.02)
        assert (found["whole"]["running"], found["whole"]["waiting"], found["whole"]["done"]) == (3, 1, 0)
        text = told(tmp_path / "run")
        assert "3 running, 1 waiting" in text
        assert "no process is seen" not in text
    finally:
        go.set()
        thread.join()
    assert read_status(tmp_path / "run")["whole"]["done"] == 4


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="this system does not say who holds a lock")
def test_chains_of_a_killed_process_are_interrupted_not_running(tmp_path):
    made = planned(Counting(tmp_path / "asked", pause=0.1), runs=1)
    process = multiprocessing.get_context("fork").Process(target=generate, args=(made, tmp_path / "run"))
    process.start()
    until = time.monotonic() + 60
    while time.monotonic() < until and not list((tmp_path / "run").glob("chains/*/0002.*")):
        time.sleep(0.02)
    process.kill()
    process.join()
    found = read_status(tmp_path / "run")
    assert found["whole"]["running"] == 0
    assert found["whole"]["interrupted"] > 0
    assert found["whole"]["interrupted"] + found["whole"]["waiting"] + found["whole"]["done"] == 4
    assert "no process is working on it" in told(tmp_path / "run")


def test_one_shard_knows_the_whole_plan(tmp_path):
    made = planned(Counting(tmp_path / "asked"), rounds=1, runs=2)
    scheduler.generate(made, made.chains[::3], tmp_path / "run")
    found = read_status(tmp_path / "run")
    assert (found["whole"]["done"], found["whole"]["chains"]) == (len(made.chains[::3]), len(made.chains))
    assert found["whole"]["waiting"] == len(made.chains) - found["whole"]["done"]


def test_answers_that_arrive_while_it_looks_do_not_stop_it(tmp_path):
    folder = stores.keep(tmp_path / "run", stores.chain())
    (folder / "done.json").unlink()
    lines = (folder / "steps.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) > 2
    (folder / "steps.jsonl").write_bytes(lines[0])  # as it was read before the last answers were stored
    found = read_status(tmp_path / "run")
    assert (found["whole"]["chains"], found["whole"]["done"], found["whole"]["calls_done"]) == (1, 0, 0)


def test_what_is_no_run_or_cannot_be_read_is_one_sentence(tmp_path):
    result = invoke("status", tmp_path)
    assert result.exit_code == 2
    assert "holds no run; give the folder that `generate --out` made" in result.output
    folder = stores.keep(tmp_path / "run", stores.chain())
    for text in ("{", "[]", '{"status": "complete"}', '{"status": "complete", "steps": 1, "cost": "x"}'):
        (folder / "done.json").write_text(text)
        result = invoke("status", tmp_path / "run")
        assert result.exit_code == 2
        assert f"chains/{folder.name} cannot be read (" in result.output
        assert "`convergebench verify` says what is broken" in result.output
