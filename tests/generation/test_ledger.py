"""Calls and money: what is tried again, what stops a run, and a limit that holds for all its processes."""

import contextlib
import hashlib
import itertools
import json
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from pathlib import Path

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
    call, caller = failing(*errors), Caller(first_wait=0.001, longest_wait=0.002, price=0.04)
    with pytest.raises(Rejected, match=says) as caught:
        caller.ask(call)
    assert (len(call.asked), caught.value.cost) == (asked, cost and pytest.approx(cost))
    assert caller.budget.spent == pytest.approx(cost or 0)


def test_waits_double_with_jitter_and_have_a_longest():
    caller = Caller(first_wait=1, longest_wait=10)
    for attempt, full in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (9, 10)):
        waits = {caller._delay(attempt, None) for _ in range(50)}
        assert full / 2 <= min(waits) < max(waits) <= full
    assert (caller._delay(1, 7.0), caller._delay(1, 3600.0)) == (7.0, 10)  # what the vendor asks for


def test_a_call_that_is_answered_keeps_the_circuit_closed():
    caller = Caller(failures=3)
    for status in ("ok", "refused") * 5:
        for _ in range(2):
            with pytest.raises(Rejected):
                caller.ask(failing(Rejected("400")))
        assert caller.ask(lambda status=status: Answer(b"x", status=status)).status == status


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
        counts, until = most[answered.is_set()], time.monotonic() + 20
        counts.append(len(flying))
        while max(counts) < (5 if counts is most[True] else 2) and time.monotonic() < until:
            time.sleep(0.001)  # the others are still on their way
        time.sleep(0.005)  # for one too many
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


FAULTS = {"429": partial(Transient, "429"), "cut": partial(Transient, "cut", charged=True)}
FAULTS["400"] = partial(Rejected, "400")


@settings(max_examples=40, deadline=None)
@given(
    workers=some.integers(1, 48),
    fates=some.lists(some.sampled_from(["ok", "refused", *FAULTS]), min_size=1, max_size=12),
    limit=some.sampled_from([1.0, 0.5, 0.01]),
)
def test_a_limit_is_never_passed_whatever_becomes_of_calls(workers, fates, limit):
    paid, turns = [], itertools.cycle(fates)
    quick = {"first_wait": 0.0001, "longest_wait": 0.0002, "attempts": 3, "probes": 99, "failures": 10**6}
    caller = Caller(budget=Budget(limit), price=0.039, concurrency=workers, **quick)

    def call():
        fate = next(turns)
        if fate in ("ok", "refused", "cut"):
            paid.append(fate)
        time.sleep(0.0005)
        if fate in FAULTS:
            raise FAULTS[fate]()
        return Answer(b"x", status=fate)

    def ask(_):
        with contextlib.suppress(Rejected, UserError):
            caller.ask(call)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(ask, range(160)))
    assert len(paid) <= int(limit / 0.039)
    assert caller.budget.spent <= limit
    assert caller.budget.held == 0


def spending(*words):
    script = str(Path(__file__).parents[1] / "spending.py")
    return json.loads(subprocess.run([sys.executable, script, *words], capture_output=True, check=True).stdout)


def lines(run):
    """What the ledger says, without the checksums."""
    found = [json.loads(line) for line in (run / "ledger" / "calls.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "check"} for line in found]


def test_killed_processes_bill_no_more_than_their_limit(tmp_path):
    assert spending(str(tmp_path / "calm"), "3", "0") == {"billed": 1.00, "recorded": 1.00, "kills": 0}
    facts = spending(str(tmp_path / "killed"), "2", "20")
    assert facts["kills"] == 20
    assert facts["recorded"] <= facts["billed"] <= 1.00


def test_sigterm_lets_calls_in_flight_end_and_makes_no_more(tmp_path):
    facts = spending(str(tmp_path), "terminate")
    assert facts["stopped"].startswith("interrupted")
    assert (facts["abandoned"], facts["exit"]) == (0, 0)
    on_their_way = 8  # at most: a call of each worker; without SIGTERM the limit ends the run at 25
    assert facts["before"] <= facts["after"] <= facts["before"] + on_their_way
    assert facts["recorded"] == pytest.approx(facts["after"] * facts["price"])
    assert facts["seconds"] < 30


def test_a_call_is_in_the_ledger_before_it_is_made(tmp_path):
    budget = Budget(1.00, tmp_path, 0.12)
    hold = budget.hold(0.04)
    assert [sorted(line) for line in lines(tmp_path)] == [["opening"], ["call", "intent"]]
    budget.pay(hold, 0.039)
    assert lines(tmp_path)[1:] == [{"call": hold[1], "intent": 0.04}, {"call": hold[1], "settled": 0.039}]
    assert budget.spent == pytest.approx(0.159)
    assert Budget(run=tmp_path).spent == Budget(run=tmp_path, check_only=True).spent == 0.159
    assert hashlib.sha256(b'{"opening":0.12}').hexdigest()[:8] in (tmp_path / "ledger/calls.jsonl").read_text()


def test_an_unsettled_call_counts_as_spent(tmp_path):
    call = Budget(0.05, tmp_path).hold(0.04)[1]
    for _ in range(2):
        with pytest.raises(UserError, match=r"\$0.04 is spent, so a call at \$0.04 would pass the limit of"):
            Budget(0.05, tmp_path).hold(0.04)
    with (tmp_path / "ledger" / "calls.jsonl").open("a") as log:
        log.write(json.dumps({"call": call, "settled": 0}) + "\n")
    Budget(0.05, tmp_path).hold(0.04)


def test_calls_hold_as_much_as_the_dearest_answer_cost(tmp_path):
    """So that a vendor who bills more than it says cannot take a run past its limit, nor after a new start."""
    budget = Budget(1.00, tmp_path)
    first, second = budget.hold(0.04), budget.hold(0.04)
    budget.pay(first, 0.30)
    budget.pay(second, 0.25)
    for again in (budget, Budget(1.00, tmp_path)):
        hold = again.hold(0.04)
        assert float(hold[0]) == 0.30
        again.pay(hold, 0)
        assert float(again.hold(0.10)[0]) == 0.10  # of another price nothing is known
    with pytest.raises(UserError, match=r"so a call at \$0.3 would pass the limit of \$0.8"):
        Budget(0.80, tmp_path).hold(0.04)


def test_what_another_process_spends_and_its_dearest_answer_count(tmp_path):
    ours, theirs = (Budget(0.20, tmp_path) for _ in range(2))
    theirs.pay(theirs.hold(0.04), 0.05)
    hold = ours.hold(0.04)
    assert float(hold[0]) == 0.05
    ours.pay(hold, 0.07)
    assert float(theirs.hold(0.04)[0]) == 0.07, "it may rise again"
    with pytest.raises(UserError, match="would pass the limit"):
        ours.hold(0.04)
    assert (ours.spent, ours.paid) == (pytest.approx(0.19), Decimal("0.07"))
    alone = Budget(1.00)
    alone.pay(alone.hold(0.04), 0.05)
    assert float(alone.hold(0.04)[0]) == 0.05


def test_an_unfinished_line_of_a_ledger_is_cut_off(tmp_path):
    Budget(run=tmp_path, opening=0.5)
    with (tmp_path / "ledger" / "calls.jsonl").open("ab") as log:
        log.write(b'{"call":"dead-1","int')
    budget = Budget(1.0, tmp_path)
    budget.pay(budget.hold(0.0), 0.03)
    assert [sorted(line) for line in lines(tmp_path)] == [["opening"], ["call", "settled"]]
    assert Budget(run=tmp_path).spent == 0.53


@pytest.mark.parametrize("left", ["half", "one line", "nothing", "no file", "another digit"])
def test_what_was_changed_in_or_cut_from_a_ledger_is_missed(tmp_path, left):
    budget = Budget(1.00, tmp_path)
    budget.pay(budget.hold(0.04), 0.04)
    path = tmp_path / "ledger" / "calls.jsonl"
    whole = path.read_bytes()
    cut = {"half": whole[: len(whole) // 2], "one line": whole.split(b"\n")[0] + b"\n"}
    path.write_bytes({**cut, "another digit": whole.replace(b"0.04", b"0.01")}.get(left, b""))
    if left == "no file":
        path.unlink()
    gone = r"has \d+ bytes and had \d+, so calls that were paid for are not"
    damaged = r"line 2, is not an entry of a ledger \(it is damaged"
    for check_only in (False, True):
        with pytest.raises(UserError, match=damaged if left == "another digit" else gone):
            Budget(run=tmp_path, check_only=check_only)
    path.write_bytes(whole)
    (tmp_path / "ledger" / "size").write_text("no number")
    assert Budget(run=tmp_path).spent == 0.04
    shutil.rmtree(tmp_path / "ledger")
    assert Budget(run=tmp_path, opening=0.01).spent == 0.01


def test_calls_in_flight_count_as_the_dearest_answer(tmp_path):
    """Also those of a process that was killed before it knew."""
    Budget(1.00, tmp_path).hold(0.04)  # killed now
    budget = Budget(0.20, tmp_path)
    first, _ = budget.hold(0.04), budget.hold(0.04)
    budget.pay(first, 0.06)
    assert budget.spent + float(budget.held) == pytest.approx(Budget(run=tmp_path).spent) == 0.18
    with pytest.raises(UserError, match=r"\$0.18 is spent, so a call at \$0.06 would pass the limit of \$0.2"):
        Budget(0.20, tmp_path).hold(0.04)


def test_a_call_that_no_end_of_another_makes_room_for_does_not_wait(tmp_path):
    budget, said = Budget(0.10, tmp_path), []

    def ask():
        with pytest.raises(UserError, match="would pass the limit"):
            budget.hold(0.09)
        said.append("refused")

    budget.pay(budget.hold(0.02), 0.02)
    budget.hold(0.04)  # in flight
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(20)
    assert said == ["refused"]


def test_a_ledger_that_cannot_be_read_lets_no_call_be_made(tmp_path):
    lines = ["{}", "[]", "no", "7", '{"settled":1}', '{"call":"a","intent":1,"settled":1}', "\xff"]
    lines += ['{"call":"a","intent":1,"chek":"x"}', '{"call":"a","intent":null}']
    lines += [f'{{"call":"a","settled":{amount}}}' for amount in ("true", "-5", "NaN", "Infinity", '"1"')]
    path = tmp_path / "ledger" / "calls.jsonl"
    for line in lines:
        ours = Budget(1.0, tmp_path)
        whole = path.read_bytes()
        path.write_bytes(whole + line.encode("latin-1") + b"\n")
        with pytest.raises(UserError, match=r"calls.jsonl, line 2, is not an entry of a ledger"):
            ours.hold(0.04)
        path.write_bytes(whole)
    path.write_bytes(b"")
    with pytest.raises(UserError, match="calls that were paid for are not in it; restore it"):
        ours.hold(0.04)
