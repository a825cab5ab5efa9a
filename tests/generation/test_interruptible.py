"""What Ctrl-C means for work in threads."""

import os
import signal
import threading
import time

import pytest
from convergebench.generation import interruptible


def interrupt_soon(*after):
    """Ctrl-C at these seconds from now."""
    for seconds in after:
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        timer.daemon = True
        timer.start()


def run(seconds, items=3, at_once=3):
    stopped, told, done = threading.Event(), [], []

    def stop(reason):
        told.append(reason)
        stopped.set()

    def do(item):
        if stopped.is_set():
            return None
        time.sleep(seconds)
        return item

    abandoned = interruptible.do_all(range(items), do, lambda future, item: done.append(future.result()), stop, at_once)
    return abandoned, told, done


def test_every_item_is_recorded_in_the_calling_thread():
    threads = []
    abandoned = interruptible.do_all(
        range(20), lambda item: item, lambda future, item: threads.append(threading.current_thread()), print, 4
    )
    assert abandoned == 0
    assert threads == [threading.main_thread()] * 20


def test_after_ctrl_c_what_runs_ends_and_nothing_begins():
    interrupt_soon(0.1)
    abandoned, told, done = run(0.4, items=6, at_once=2)
    assert (abandoned, told) == (0, ["interrupted; give the same command again to go on"])
    assert sorted(item for item in done if item is not None) == [0, 1]
    assert len(done) == 6


def test_a_second_ctrl_c_gives_up_what_still_runs():
    interrupt_soon(0.1, 0.2)
    began = time.monotonic()
    abandoned, told, done = run(2)
    assert (abandoned, len(told), done) == (3, 1, [])
    assert time.monotonic() - began < 1.5


def test_what_takes_longer_than_the_grace_is_given_up(monkeypatch):
    monkeypatch.setattr(interruptible, "GRACE", 0.1)
    interrupt_soon(0.1)
    assert run(2)[0] == 3


def test_a_fault_while_recording_stops_the_others_and_is_raised():
    told = []
    with pytest.raises(ZeroDivisionError):
        interruptible.do_all(range(3), lambda item: item, lambda future, item: 1 / 0, told.append, 3)
    assert told == ["an internal error"]
