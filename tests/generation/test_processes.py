"""Several processes and threads at one run: the lock, the atomic write, ranks, Ctrl-C, and lines in a log."""

import multiprocessing
import os
import signal
import threading
import time
from types import SimpleNamespace

import pytest
from convergebench.generation import calls, files, progress
from convergebench.generation.records import UserError
from convergebench.generation.shares import rank_and_size

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


@pytest.fixture
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


@pytest.mark.usefixtures("heard")
def test_after_ctrl_c_what_runs_ends_and_nothing_begins():
    abandoned, told, done = run(0.4, items=6, at_once=2)
    assert (abandoned, told) == (0, ["interrupted; give the same command again to go on"])
    assert sorted(item for item in done if item is not None) == [0, 1]
    assert len(done) == 6


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize(("interrupts", "grace"), [(2, 60.0), (1, 0.1)])
def test_a_second_ctrl_c_or_the_end_of_the_grace_gives_up(monkeypatch, interrupts, grace):
    monkeypatch.setattr(calls, "GRACE", grace)
    began = time.monotonic()
    abandoned, told, done = run(5, interrupts=interrupts)
    assert (abandoned, len(told), done) == (3, 1, [])
    assert time.monotonic() - began < 4


@pytest.mark.usefixtures("heard")
def test_ctrl_c_leaves_no_half_record():
    done = []

    def record(future, item):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        done.append(item)

    calls.do_all(range(1), lambda item: item, record, done.append, 1)
    assert done == [0]


@pytest.mark.usefixtures("heard")
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
