"""What Ctrl-C means for work in threads."""

import os
import signal
import threading
import time

import pytest
from convergebench.generation import calls


@pytest.fixture(autouse=True)
def heard():
    """Ctrl-C is heard, though whatever started the tests in the background may have told Python to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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

    abandoned = calls.do_all(range(items), do, lambda future, item: done.append(future.result()), stop, at_once)
    return abandoned, told, done


def test_after_ctrl_c_what_runs_ends_and_nothing_begins():
    interrupt_soon(0.1)
    abandoned, told, done = run(0.4, items=6, at_once=2)
    assert (abandoned, told) == (0, ["interrupted; give the same command again to go on"])
    assert sorted(item for item in done if item is not None) == [0, 1]
    assert len(done) == 6


@pytest.mark.parametrize(("after", "grace"), [((0.1, 0.2), 60.0), ((0.1,), 0.1)])
def test_a_second_ctrl_c_or_the_end_of_the_grace_gives_up(monkeypatch, after, grace):
    monkeypatch.setattr(calls, "GRACE", grace)
    interrupt_soon(*after)
    began = time.monotonic()
    abandoned, told, done = run(5)
    assert (abandoned, len(told), done) == (3, 1, [])
    assert time.monotonic() - began < 4


def test_a_fault_while_recording_stops_the_others_and_is_raised():
    told = []
    with pytest.raises(ZeroDivisionError):
        calls.do_all(range(3), lambda item: item, lambda future, item: 1 / 0, told.append, 3)
    assert told == ["an internal error"]
