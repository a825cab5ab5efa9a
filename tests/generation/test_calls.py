"""Calls: what is tried again and how often, what stops a run, and that money is never passed."""

import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest
from convergebench.generation.calls import Caller, Rejected, Transient
from convergebench.generation.ledger import Budget
from convergebench.generation.records import Answer, UserError
from hypothesis import given, settings
from hypothesis import strategies as some


def failing(*errors):
    """A call that raises these one after the other and then answers."""
    left = list(errors)

    def call():
        call.asked.append(time.monotonic())
        if left:
            raise left.pop(0)
        return Answer(b"picture")

    call.asked = []
    return call


CUT = Transient("cut", charged=True)


@pytest.mark.parametrize(
    ("errors", "says", "asked", "cost"),
    [
        ([Transient("busy")] * 20, r"busy \(tried 10 times\)", 10, None),
        ([Transient("429"), *[CUT] * 10], r"cut \(tried 4 times\)", 4, 0.12),  # may be billed
        ([CUT, Rejected("400")], "400", 2, 0.04),
    ],
)
def test_attempts_are_bounded_and_their_cost_and_reason_kept(errors, says, asked, cost):
    call = failing(*errors)
    with pytest.raises(Rejected, match=says) as caught:
        Caller(first_wait=0.001, longest_wait=0.002, price=0.04).ask(call)
    assert (len(call.asked), caught.value.cost) == (asked, cost and pytest.approx(cost))


def test_waits_double_with_jitter_and_have_a_longest():
    caller = Caller(first_wait=1, longest_wait=10)
    for attempt, full in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (9, 10)):
        waits = {caller._delay(attempt, None) for _ in range(50)}
        assert full / 2 <= min(waits) < max(waits) <= full
    assert (caller._delay(1, 7.0), caller._delay(1, 3600.0)) == (7.0, 10)  # what the vendor asks for


@pytest.mark.parametrize("status", ["ok", "refused"])
def test_a_call_that_is_answered_keeps_the_circuit_closed(status):
    caller = Caller(failures=3)
    for _ in range(20):
        for _ in range(2):
            with pytest.raises(Rejected):
                caller.ask(failing(Rejected("400")))
        assert caller.ask(lambda: Answer(b"x", status=status)).status == status


def test_stopping_wakes_those_who_wait():
    caller = Caller(first_wait=60, longest_wait=60)
    threading.Timer(0.1, caller.stop).start()
    started = time.monotonic()
    with pytest.raises(CancelledError):
        caller.ask(failing(*[Transient("busy")] * 9))
    assert time.monotonic() - started < 5


def test_few_calls_are_made_until_the_first_answer():
    caller, flying, answered = Caller(concurrency=5, probes=2), [], threading.Event()
    most = {True: [], False: []}

    def call():
        flying.append(1)
        most[answered.is_set()].append(len(flying))
        time.sleep(0.05 if not answered.is_set() else 0.005)
        flying.pop()
        answered.set()
        return Answer(b"x")

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda _: caller.ask(call), range(100)))
    assert (max(most[False]), max(most[True])) == (2, 5)


def test_no_more_calls_start_in_a_minute_than_allowed(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("convergebench.generation.calls.time.monotonic", lambda: now[0])
    caller, begun = Caller(requests_a_minute=10), []

    def wait(condition, seconds):
        now[0] += seconds

    monkeypatch.setattr(threading.Condition, "wait", wait)
    for _ in range(35):
        caller.ask(lambda: begun.append(now[0]) or Answer(b"x"))
    assert all(later - earlier >= 60 for earlier, later in zip(begun, begun[10:], strict=False))
    assert 180 <= begun[-1] < 190


def test_a_budget_waits_for_calls_that_may_turn_out_free():
    caller = Caller(budget=Budget(0.10), price=0.04, attempts=9, first_wait=0.001, longest_wait=0.01)
    hurdles = iter([Transient("429")] * 3)

    def call():
        time.sleep(0.01)
        for error in hurdles:
            raise error
        return Answer(b"x")

    with ThreadPoolExecutor(2) as pool:
        assert len(list(pool.map(lambda _: caller.ask(call), range(2)))) == 2
    with pytest.raises(UserError, match=r"\$0.08 is spent, so a call at \$0.04 would pass the limit of \$0.1"):
        caller.ask(call)


@settings(max_examples=40, deadline=None)
@given(
    workers=some.integers(1, 48),
    fates=some.lists(some.sampled_from(["ok", "refused", "429", "cut", "400"]), min_size=1, max_size=12),
    limit=some.sampled_from([1.0, 0.5, 0.01]),
)
def test_a_limit_is_never_passed_whatever_becomes_of_calls(workers, fates, limit):
    paid, lock, turn = [], threading.Lock(), iter(range(10**6))

    def call():
        with lock:
            fate = fates[next(turn) % len(fates)]
            if fate in ("ok", "refused", "cut"):
                paid.append(fate)
        time.sleep(0.0005)
        if fate == "429":
            raise Transient("429")
        if fate == "cut":
            raise Transient("cut", charged=True)
        if fate == "400":
            raise Rejected("400")
        return Answer(b"x", status=fate)

    budget, quick = Budget(limit), {"first_wait": 0.0001, "longest_wait": 0.0002, "attempts": 3}
    caller = Caller(budget=budget, price=0.039, concurrency=workers, failures=10**6, probes=99, **quick)

    def chain(_):
        for _ in range(4):
            try:
                caller.ask(call)
            except Rejected:
                pass
            except UserError:
                return

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(chain, range(40)))
    assert len(paid) <= int(limit / 0.039)
    assert budget.spent <= limit
    assert budget.held == 0
