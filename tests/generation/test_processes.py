"""Several processes and threads at one run: the lock, the atomic write, ranks, Ctrl-C, lines in a log.

And how a run is doing, from its folder alone: while it runs, after it was killed, and by shard.
"""

import json
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import stores
from convergebench.generation import calls, files, progress, scheduler
from convergebench.generation.calls import Rejected
from convergebench.generation.records import Answer, UserError
from convergebench.generation.shares import rank_and_size
from convergebench.generation.status import read_status
from counting import Counting, generate, planned
from verbs import invoke, say

FORK = multiprocessing.get_context("fork")


def count_up(path, times):
    for _ in range(times):
        with files.locked(path.parent, wait=True):
            number = int(path.read_text())
            path.write_text(str(number + 1))


def test_waiting_processes_enter_one_at_a_time(tmp_path):
    path = tmp_path / "number"
    path.write_text("0")
    workers = [FORK.Process(target=count_up, args=(path, 50)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert path.read_text() == "200"
    assert [one.name for one in tmp_path.iterdir()] == ["number"]


def test_a_lock_excludes_threads_and_outlives_its_folder(tmp_path):
    with files.locked(tmp_path), pytest.raises(files.Locked), files.locked(tmp_path):
        pass
    with files.locked(tmp_path / "draft"):
        (tmp_path / "draft" / files.LOCK).unlink()
        (tmp_path / "draft").rmdir()


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    files.write_whole(tmp_path / "x", b"before")

    def fail(descriptor):
        raise OSError("cable pulled")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="cable pulled"):
        files.write_whole(tmp_path / "x", b"after")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("x", b"before")]


def test_ranks_that_cannot_share_a_run_are_one_sentence(monkeypatch):
    for name, value in {"WORLD_SIZE": "2", "RANK": "0", "LOCAL_RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(UserError, match=r"2 processes were launched but cannot meet: .*MASTER_ADDR"):
        rank_and_size()
    alone = SimpleNamespace(num_processes=1, process_index=0)
    monkeypatch.setattr("accelerate.PartialState", lambda cpu, timeout: alone)
    with pytest.raises(UserError, match=r"2 processes were launched but each sees 1; .* launch with --multi_gpu"):
        rank_and_size()


@pytest.fixture(autouse=True)
def heard():
    """Ctrl-C is heard, though whatever started the tests in the background may have told Python to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def run(seconds, items=3, at_once=3, interrupts=1):
    """Work in threads under Ctrl-C, given so often once all of them are at work."""
    stopped, told, done, working = threading.Event(), [], [], threading.Barrier(at_once + 1)

    def stop(reason):
        told.append(reason)
        stopped.set()

    def interrupt():
        working.wait(30)
        for _ in range(interrupts):
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)

    def do(item):
        if stopped.is_set():
            return None
        working.wait(30)
        time.sleep(seconds)
        return item

    threading.Thread(target=interrupt, daemon=True).start()
    abandoned = calls.do_all(range(items), do, lambda future, item: done.append(future.result()), stop, at_once)
    return abandoned, told, done


def test_after_ctrl_c_what_runs_ends_and_nothing_begins():
    abandoned, told, done = run(0.4, items=6, at_once=2)
    assert (abandoned, told) == (0, ["interrupted; give the same command again to go on"])
    assert sorted(item for item in done if item is not None) == [0, 1]
    assert len(done) == 6


@pytest.mark.parametrize(("interrupts", "grace"), [(2, 60.0), (1, 0.1)])
def test_a_second_ctrl_c_or_the_end_of_the_grace_gives_up(monkeypatch, interrupts, grace):
    monkeypatch.setattr(calls, "GRACE", grace)
    began = time.monotonic()
    abandoned, told, done = run(5, interrupts=interrupts)
    assert (abandoned, len(told), done) == (3, 1, [])
    assert time.monotonic() - began < 4


def test_ctrl_c_leaves_no_half_record():
    done = []

    def record(future, item):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        done.append(item)

    calls.do_all(range(1), lambda item: item, record, done.append, 1)
    assert done == [0]


def test_a_third_ctrl_c_ends_a_run_whose_recording_hangs():
    def record(future, item):
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(20)

    with pytest.raises(KeyboardInterrupt):
        calls.do_all(range(1), lambda item: item, record, lambda reason: None, 1)


def test_a_fault_while_recording_stops_the_others_and_is_raised():
    told = []
    with pytest.raises(ZeroDivisionError):
        calls.do_all(range(3), lambda item: item, lambda future, item: 1 / 0, told.append, 3)
    assert told == ["an internal error"]


def test_only_long_work_writes_plain_lines_into_a_log(capsys, monkeypatch):
    for quiet in (False, True):
        with progress.progress_bar("score", 1, "images", quiet) as advance:
            advance(1, "")
    assert capsys.readouterr().err.strip() == ""
    monkeypatch.setattr(progress, "_LINES_EVERY", 0.0)
    with progress.progress_bar("score", 2, "images") as advance:
        advance(1, "paint")
        advance(1, "paint")
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("score: 1 of 2 images") for line in lines)
    assert "\r" not in "".join(lines)


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
    found = json.loads(say("status", tmp_path / "run", "--json"))
    whole = found["whole"]
    assert (whole["chains"], whole["done"], whole["running"], whole["waiting"]) == (4, 4, 0, 0)
    assert [whole[end] for end in ("refused", "failed", "complete")] == [1, 1, 2]
    assert whole["calls_done"] == whole["calls"] == sum(chain.calls for chain in made.chains)
    assert found["reasons"] == {"failed": {"HTTP #: no": 1}, "refused": {"policy # forbids it": 1}}
    text = say("status", tmp_path / "run")
    assert "4 of 4 chains done (2 complete, 1 failed, 1 refused)" in text
    assert "no process is seen" not in text
    assert "     1  policy # forbids it" in text


def wait_for(condition):
    until = time.monotonic() + 60
    while time.monotonic() < until and not condition():
        time.sleep(0.02)


def test_a_running_run_says_what_runs_and_how_long_it_will_take(tmp_path):
    go = threading.Event()
    made = planned(Counting(tmp_path / "asked", behave=lambda seed: go.wait(90) and None), rounds=2, runs=1)
    thread = threading.Thread(target=lambda: generate(made, tmp_path / "run", workers=3))
    thread.start()
    try:
        wait_for(lambda: (tmp_path / "run" / "run.json").exists())
        wait_for(lambda: read_status(tmp_path / "run")["whole"]["running"] == 3)
        whole = read_status(tmp_path / "run")["whole"]
        assert (whole["running"], whole["waiting"], whole["done"]) == (3, 1, 0)
        text = say("status", tmp_path / "run")
        assert "3 running, 1 waiting" in text
        assert "no process is seen" not in text
    finally:
        go.set()
        thread.join()
    assert read_status(tmp_path / "run")["whole"]["done"] == 4


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="this system does not say who holds a lock")
def test_chains_of_a_killed_process_are_interrupted_not_running(tmp_path):
    made = planned(Counting(tmp_path / "asked", pause=0.1), runs=1)
    process = FORK.Process(target=generate, args=(made, tmp_path / "run"))
    process.start()
    wait_for(lambda: list((tmp_path / "run").glob("chains/*/0002.*")))
    process.kill()
    process.join()
    found = read_status(tmp_path / "run")
    assert found["whole"]["running"] == 0
    assert found["whole"]["interrupted"] > 0
    assert found["whole"]["interrupted"] + found["whole"]["waiting"] + found["whole"]["done"] == 4
    assert "no process is working on it" in say("status", tmp_path / "run")


def test_one_shard_knows_the_whole_plan(tmp_path):
    made = planned(Counting(tmp_path / "asked"), rounds=1, runs=2)
    scheduler.generate(made, made.chains[::3], tmp_path / "run")
    whole = read_status(tmp_path / "run")["whole"]
    assert (whole["done"], whole["chains"], whole["waiting"]) == (3, 8, 5)


def test_what_is_no_run_or_cannot_be_read_is_one_sentence(tmp_path):
    result = invoke("status", tmp_path)
    assert result.exit_code == 2
    assert "holds no run; give the folder that `generate --out` made" in result.output
    folder = stores.keep(tmp_path / "run", stores.chain())
    lines = (folder / "steps.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "steps.jsonl").write_bytes(lines[0])  # as it was read before the last answers were stored
    (folder / "done.json").unlink()
    whole = read_status(tmp_path / "run")["whole"]
    assert (whole["chains"], whole["done"], whole["calls_done"]) == (1, 0, 0)
    for text in ("{", "[]", '{"status": "complete"}', '{"status": "complete", "steps": 1, "cost": "x"}'):
        (folder / "done.json").write_text(text)
        result = invoke("status", tmp_path / "run")
        assert result.exit_code == 2
        assert f"chains/{folder.name} cannot be read (" in result.output
        assert "`convergebench verify` says what is broken" in result.output
