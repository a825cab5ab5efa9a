"""What bounds the calls of one editor: how many at a time and in a minute, and how much money."""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from .ledger import Ledger, expected


@dataclass(frozen=True)
class CallLimits:
    """What one editor may be asked of at a time, in a minute and in a row."""

    concurrency: int = 8
    requests_a_minute: int | None = None
    images_a_minute: int | None = None  # a call asks for one picture, so the lower of the two counts
    attempts: int = 10
    paid_attempts: int = 3  # of those that may have been billed, such as a connection that was cut
    first_wait: float = 0.1  # seconds, doubled with every attempt
    longest_wait: float = 60.0
    failures: int = 5  # calls failed in a row before the run stops
    probes: int = 3  # calls that may try until the first one is answered


class Gate:
    """Lets callers through, as many at a time and in a minute as the limits say."""

    def __init__(self, limits: CallLimits):
        self.limits = limits
        self.first_answer = threading.Condition()
        self.answered = False
        self.calls = 0
        self.lock = threading.Lock()
        self.queue: deque[threading.Condition] = deque()  # first come, first through: no chain falls behind the others
        self.in_flight = 0
        self.started: deque[float] = deque()

    def first_answer_came(self) -> None:
        """The first answer came: the calls that waited for it may begin."""
        if not self.answered:
            with self.first_answer:
                self.answered = True
                self.first_answer.notify_all()

    @contextmanager
    def whole_call(self, stopping: threading.Event) -> Iterator[None]:
        """A whole call with its attempts; until one is answered only a few may try."""
        with self.first_answer:
            while not self.answered and self.calls >= self.limits.probes and not stopping.is_set():
                self.first_answer.wait(0.5)
            self.calls += 1
        try:
            yield
        finally:
            with self.first_answer:
                self.calls -= 1
                self.first_answer.notify()

    @contextmanager
    def one_attempt(self, stopping: threading.Event, again: bool = False) -> Iterator[None]:
        """One attempt in flight; one that is made again has waited enough."""
        with self.lock:
            turn = threading.Condition(self.lock)
            (self.queue.appendleft if again else self.queue.append)(turn)
            while not stopping.is_set():
                pause = self.seconds_to_next_start()
                if self.queue[0] is turn and self.in_flight < self.limits.concurrency and pause <= 0:
                    break
                turn.wait(min(pause, 0.5) if pause > 0 else 0.5)
            self.queue.remove(turn)
            self.in_flight += 1
            self.started.append(time.monotonic())
            self.wake_first()
        try:
            yield
        finally:
            with self.lock:
                self.in_flight -= 1
                self.wake_first()

    def wake_first(self) -> None:
        """Wake the one whose turn it is."""
        if self.queue and self.in_flight < self.limits.concurrency:
            self.queue[0].notify()

    def seconds_to_next_start(self) -> float:
        """Seconds until another call may start."""
        rates = [rate for rate in (self.limits.requests_a_minute, self.limits.images_a_minute) if rate]
        if not rates:
            self.started.clear()
            return 0.0
        now = time.monotonic()
        while self.started and self.started[0] <= now - 60:
            self.started.popleft()
        return self.started[0] + 60 - now if len(self.started) >= min(rates) else 0.0


class OverBudget(Exception):
    """The next call could pass the limit, so it is not made and the run stops."""


@dataclass(frozen=True)
class Hold:
    """Money set aside for a call in flight, and the name of the call in the ledger."""

    amount: Decimal
    call: str | None = None


class Budget:
    """What may be spent, has been spent, and is held for calls in flight, in US dollars.

    With a ledger, what other processes of the run spend and hold counts as well.
    """

    def __init__(self, limit: float | None = None, before: float = 0.0, ledger: Ledger | None = None):
        self.limit = Decimal("Infinity" if limit is None else str(limit))
        self.before = Decimal(str(round(before, 6)))  # a sum of floats is off by less than that
        self.paid = Decimal(0)  # by this process
        self.in_flight: list[Decimal] = []  # what each call was to cost when it was begun
        self.ledger = ledger
        # What the dearest answer cost of calls that were to cost so much: where a vendor bills more than it says, the
        # next calls are expected to cost as much.
        self.dearest: dict[Decimal, Decimal] = ledger.dearest if ledger else {}
        self.changed = threading.Condition()

    @property
    def spent(self) -> float:
        """By all, as far as this process knows."""
        with self.changed:
            return float(self.spent_by_all)

    @property
    def spent_by_all(self) -> Decimal:
        return self.paid + (self.ledger.spent if self.ledger else self.before)

    def hold(self, price: float) -> Hold:
        """Sets the price of a call aside before it is made; waits for calls in flight that may leave room for it."""
        with self.changed:
            while (hold := self.try_to_hold(Decimal(str(price)))) is None:
                spent, amount = self.spent_by_all, self.expected(Decimal(str(price)))
                if spent + amount > self.limit or not self.held:
                    raise OverBudget(f"${spent} is spent, so a call at ${amount} would pass the limit of ${self.limit}")
                self.changed.wait()
        return hold

    @property
    def held(self) -> Decimal:
        """For this process's calls in flight, each at what it may cost by now."""
        return sum((expected(amount, self.dearest) for amount in self.in_flight), Decimal(0))

    def expected(self, price: Decimal) -> Decimal:
        return expected(price, self.dearest)

    def try_to_hold(self, price: Decimal) -> Hold | None:
        """The money for a call, written down before it is given; None where it would pass the limit."""
        with self.ledger.turn() if self.ledger and price else contextlib.nullcontext():
            amount = self.expected(price)
            if self.spent_by_all + self.held + amount > self.limit:
                return None
            hold = Hold(amount, self.ledger.intend(amount) if self.ledger and amount else None)
            self.in_flight.append(amount)
            return hold

    def pay(self, hold: Hold, cost: float) -> None:
        """The call is over: what it did cost takes the place of what was held."""
        paid = Decimal(str(cost))
        with self.changed:
            self.in_flight.remove(hold.amount)
            self.paid += paid
            if hold.amount and paid > hold.amount:
                self.dearest[hold.amount] = max(paid, self.dearest.get(hold.amount, paid))
            self.changed.notify_all()
            if self.ledger and (hold.call or paid):
                with self.ledger.turn():
                    self.ledger.settle(hold.call, paid)
