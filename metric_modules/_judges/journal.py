"""Asks a model within limits; an answer is on disk before its cost is settled.

FOLDER/NAME.jsonl           a line for each answer, synced to disk before anything else happens
FOLDER/ledger/calls.jsonl   what the calls cost (see generation/ledger.py)
"""

import hashlib
import json
import math
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from convergebench.generation.calls import Caller, Rejected, Transient, Unusable, do_all
from convergebench.generation.files import disk_errors_explained
from convergebench.generation.ledger import Budget
from convergebench.generation.records import Answer, UserError, canonical

from .backends import BaseJudge, Shown

_APPENDING = threading.Lock()
Item = TypeVar("Item")
Line = dict[str, Any]  # of a journal: an answer, with the cost of its call and the call's name in the ledger
Progress = Callable[[int], AbstractContextManager[Callable[[int, str], object]]]


@dataclass
class Outcome:
    judge: str
    question: str
    session: int | None = None  # None if there was nothing to ask
    asked: int = 0
    already: int = 0
    calibration: int = 0  # of those asked
    without_value: dict[str, int] = field(default_factory=dict)  # by reason: answers of this run
    left_out: dict[str, int] = field(default_factory=dict)  # by reason: steps that are not asked about at all
    left: dict[str, str] = field(default_factory=dict)  # why calls failed; the next run asks again
    stopped: str | None = None
    spent: float = 0.0  # US dollars, by this run
    before: float = 0.0  # US dollars, by earlier runs
    alarms: list[str] = field(default_factory=list)
    abandoned: int = 0  # calls that were still in flight when the run was given up

    @property
    def clean(self) -> bool:
        return self.stopped is None and not self.left


def file_stem(label: str) -> str:
    words = re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.")[:60]
    return f"{words}-{hashlib.sha256(label.encode()).hexdigest()[:8]}"


def read_journal(path: Path) -> list[Line]:
    """The paid answers of one judge; an incomplete last line is removed."""
    if not path.exists():
        return []
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        os.truncate(path, end)
    try:
        return [json.loads(line) for line in data[:end].splitlines()]
    except ValueError as error:
        raise UserError(f"{path} cannot be read ({error}); restore it, or remove it to ask again") from error


def _append_to_journal(path: Path, line: Line) -> None:
    """Add an answer; it is on disk when this returns."""
    with _APPENDING, disk_errors_explained(path.parent), path.open("ab") as file:
        file.write((canonical(line) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())


def ask_all(
    judge: BaseJudge,
    journal: Path,
    lines: list[Line],
    outcome: Outcome,
    limits: tuple[float | None, float | None, float],
    items: Sequence[Item],
    shown: Callable[[Item], Shown],
    entry: Callable[[Item, Answer, float | None, float], Line],
    advance: Progress,
) -> None:
    """Ask about every item, until all are done or the run has to stop; new answers are added to `lines` as well.

    `limits` are the most that a call costs, the limit of the cost, and what was spent
    before there was a ledger. `entry` makes the line of an answer, given its cost and
    its seconds. What becomes of the calls is counted in the outcome.
    """
    price, max_cost, opening = limits
    answered = {line["call"]: line["own"] for line in lines if line["call"]}
    is_paid = price != 0 and (items or answered)
    if is_paid:
        _settle(Budget(run=journal.parent, opening=opening), answered)
    budget = Budget(max_cost, journal.parent if is_paid else None)
    outcome.before = budget.spent
    at_once, rate = judge.concurrency, judge.requests_a_minute
    caller = Caller(budget=budget, price=price or 0.0, concurrency=at_once, requests_a_minute=rate)

    def stop(reason: str) -> None:
        outcome.stopped = outcome.stopped or reason
        caller.stop()

    def store(item: Item, answer: Answer, cost: float | None, own_cost: float, seconds: float) -> None:
        line = entry(item, answer, cost, seconds) | {"call": budget.thread.call, "own": own_cost}
        _append_to_journal(journal, line)
        lines.append(line)

    def make_call(item: Item) -> None:
        if outcome.stopped:
            raise CancelledError
        caller.ask(partial(_attempt, judge, shown(item), caller.price, [], partial(store, item)))

    def record(future: Future[None], item: Item) -> None:
        try:
            future.result()
            outcome.asked += 1
        except CancelledError:
            return
        except Rejected as error:
            outcome.left[str(item)] = str(error)
        except (Unusable, UserError) as error:
            stop(str(error))
        tell(1, f"${budget.spent:.2f}" if price else "")

    try:
        with advance(len(items)) as tell:
            threads = min(2 * judge.concurrency, max(len(items), 1))
            outcome.abandoned = do_all(items, make_call, record, stop, threads)
    finally:
        outcome.spent = float(budget.paid)


def _settle(budget: Budget, answered: Mapping[str, float]) -> None:
    """Settle the calls of a process that died after it stored an answer and before it settled the cost."""
    with budget.turn():
        for call in budget.unsettled.keys() & answered.keys():
            budget.settle(call, Decimal(str(answered[call])))


def _attempt(
    judge: BaseJudge, request: Shown, price: float, billed: list[float], store: Callable[..., None]
) -> Answer:
    """One attempt at an answer; `billed` has the costs of those before it."""
    started = time.monotonic()
    try:
        answer = judge.answer(request)
    except (Transient, Rejected) as error:
        billed.append(price if error.charged else 0.0)
        raise
    own_cost = price if answer.cost is None else answer.cost
    cost = round(sum(billed) + own_cost, 6) if price or answer.cost is not None else None
    store(answer, cost, own_cost, round(time.monotonic() - started, 3))
    return answer


def refuse_unlimitable_cost(max_cost: float | None, price: float | None, label: str) -> None:
    if max_cost is None:
        return
    if not (math.isfinite(max_cost) and max_cost >= 0):
        raise UserError(f"--max-cost must be a number of US dollars from 0, got {max_cost}")
    if price is None:
        line = 'openai_tokens."MODEL" = { text = 1.0, image = 1.0, output = 8.0 }'
        raise UserError(
            f"--max-cost needs the price of a call of {label!r}: write {line}, US dollars "
            "for a million tokens, into a file and name it in CONVERGEBENCH_PRICES"
        )
