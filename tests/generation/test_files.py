"""The one lock and the one atomic write."""

import multiprocessing
import os

import pytest
from convergebench.generation import files

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


def test_two_threads_of_one_process_exclude_each_other_too(tmp_path):
    with files.locked(tmp_path), pytest.raises(files.Locked), files.locked(tmp_path):
        pass


def test_a_lock_outlives_the_folder_that_its_block_removes(tmp_path):
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
