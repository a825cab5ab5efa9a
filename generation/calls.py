"""Calls editors within limits of concurrency, rate and money; Ctrl-C starts nothing new and lets paid calls finish."""

import contextlib
import dataclasses
import random
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TypeVar

from .keys import scrub
from .ledger import Budget
from .records import Answer, UserError, storable

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# More than any model in vendors/models.toml costs: the dearest picture is a quarter of a dollar.
_MOST_DOLLARS, _MOST_PRICES = 10.0, 100
_LOOK = 0.2  # seconds between two looks for Ctrl-C
GRACE = 60.0  # seconds for calls in flight to finish after Ctrl-C, because they are paid for


class Fault(Exception):
    """A call without an answer; its message is free of keys."""

    def __init__(
        self, message: str, charged: bool = False, cost: float | None = None, retry_after: float | None = None
    ):
        super().__init__(scrub(storable(message)))
        self.charged = charged  # whether the vendor may have billed it
        self.cost = cost  # of all attempts, if money was spent
        self.retry_after = retry_after


class Transient(Fault):
    """The call may work later."""


class Rejected(Fault):
    """The call cannot work: the step is recorded as failed with this reason."""


class Unusable(Fault):
    """No call can work (wrong key, no credit): the run stops, and nothing is recorded."""


@dataclass(eq=False, kw_only=True)
class Caller:
    """All calls of one editor, from any number of threads: limits, circuit breaker, budget."""

    budget: Budget = field(default_factory=Budget)
    price: float = 0.0
    concurrency: int = 8
    requests_a_minute: int | None = None
    attempts: int = 10
    paid_attempts: int = 3  # attempts that may have been billed, such as a cut connection
    first_wait: float = 0.1  # seconds, doubled with every attempt
    longest_wait: float = 60.0
    failures: int = 5  # in a row, before the run stops
    probes: int = 3  # attempts in flight until the first one is answered

    def __post_init__(self) -> None:
        self._failures = 0  # calls in a row, without an answer between them
        self._stopping = threading.Event()
        self._answered = False  # whether any call was
        self._lock = threading.Lock()
        self._queue: deque[threading.Condition] = deque()  # first in, first out, so that no chain falls behind
        self._in_flight = 0
        self._started: deque[float] = deque()  # when the attempts of the last minute began

    def ask(
        self, call: Callable[[], Answer], judge: Callable[[Answer], Answer] = lambda answer: answer
    ) -> Answer:
        """The answer to `call`, with the cost of all attempts; raises Rejected to be recorded.

        Unusable, UserError (of the budget) and CancelledError, for a call that
        was not made, end the run. `judge` turns bytes that are not a picture
        into an answer without one, not retried but counted as a failure.
        """
        try:
            received = self._try_until_answered(call)
            answer = judge(received)
            # It may quote what came back.
            answer = dataclasses.replace(answer, reason=scrub(storable(answer.reason)))
            if answer.status == "failed" or (answer.status == "no_image" and received.status == "ok"):
                fault = self._count_failure(answer.reason, 0.0)
                if isinstance(fault, Unusable):
                    raise fault
                return answer
        except Unusable:
            self.stop()  # at once, so that waiting calls do not try what cannot work
            raise
        with self._lock:
            self._failures, self._answered = 0, True
            self._wake_first()
        return answer

    def stop(self) -> None:
        self._stopping.set()

    def _try_until_answered(self, call: Callable[[], Answer]) -> Answer:
        spent, paid = 0.0, 0
        for attempt in range(1, self.attempts + 1):
            try:
                return self._with_cost(self._attempt_once(call, again=attempt > 1), spent)
            except Transient as error:
                spent, paid = (spent + self.price, paid + 1) if error.charged else (spent, paid)
                if attempt == self.attempts or paid == self.paid_attempts:
                    times = f"{attempt} times" if attempt > 1 else "once"
                    raise self._count_failure(f"{error} (tried {times})", spent) from error
                if self._stopping.wait(self._delay(attempt, error.retry_after)):
                    raise CancelledError("the run is ending") from error
            except Rejected as error:
                spent += self.price if error.charged else 0.0
                raise self._count_failure(str(error), spent) from error
        raise AssertionError("the last attempt returns or raises")

    def _attempt_once(self, call: Callable[[], Answer], again: bool) -> Answer:
        with self._slot(again):
            if self._stopping.is_set():
                raise CancelledError("the run is ending")
            hold = self.budget.hold(self.price)
            cost = 0.0
            started = time.monotonic()
            try:
                if self._stopping.is_set():  # while it waited for the budget
                    raise CancelledError("the run is ending")
                cost = self.price  # until the call says otherwise
                answer = self._with_possible_cost(call(), time.monotonic() - started)
                cost = self.price if answer.cost is None else answer.cost
                return answer
            except (Transient, Rejected) as error:
                cost = self.price if error.charged else 0.0
                raise
            except (UserError, Unusable) as error:
                cost = 0.0
                raise Unusable(str(error)) from error
            finally:
                self.budget.pay(hold, cost)

    def _with_possible_cost(self, answer: Answer, seconds: float) -> Answer:
        """A cost beyond what any call can cost is a fault in the answer, which must not end the run's budget."""
        answer = dataclasses.replace(answer, seconds=seconds)
        most = max(_MOST_DOLLARS, _MOST_PRICES * self.price)
        if answer.cost is None or (isinstance(answer.cost, int | float) and 0 <= answer.cost <= most):
            return answer
        return dataclasses.replace(answer, cost=None, details={**answer.details, "cost_said": str(answer.cost)})

    def _with_cost(self, answer: Answer, spent: float) -> Answer:
        cost = answer.cost
        if self.price or cost is not None:
            cost = round(spent + (self.price if cost is None else cost), 6)
        clean = scrub(storable({"reason": answer.reason, "text": answer.text, "details": answer.details}))
        return dataclasses.replace(answer, cost=cost, **clean)

    def _delay(self, attempt: int, retry_after: float | None) -> float:
        """Exponential backoff with jitter, so that callers do not retry together."""
        backoff = min(self.longest_wait, self.first_wait * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)
        return max(backoff, min(retry_after or 0.0, self.longest_wait))

    def _count_failure(self, reason: str, spent: float) -> Exception:
        with self._lock:
            self._failures += 1
            count = self._failures
        if count >= self.failures:
            return Unusable(f"the last {count} calls all failed, the last one because: {reason}")
        return Rejected(reason, charged=spent > 0, cost=spent or None)

    @contextlib.contextmanager
    def _slot(self, again: bool) -> Iterator[None]:
        """A slot for one attempt; a retry goes to the front of the queue."""
        with self._lock:
            turn = threading.Condition(self._lock)
            (self._queue.appendleft if again else self._queue.append)(turn)
            while not self._stopping.is_set():
                pause = self._seconds_to_next_start()
                if self._queue[0] is turn and self._has_room() and pause <= 0:
                    break
                turn.wait(min(pause, 0.5) if pause > 0 else 0.5)
            self._queue.remove(turn)
            self._in_flight += 1
            self._started.append(time.monotonic())
            self._wake_first()
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= 1
                self._wake_first()

    def _wake_first(self) -> None:
        if self._queue and self._has_room():
            self._queue[0].notify()

    def _has_room(self) -> bool:
        most = self.concurrency if self._answered else min(self.concurrency, self.probes)
        return self._in_flight < most

    def _seconds_to_next_start(self) -> float:
        rate, now = self.requests_a_minute, time.monotonic()
        while self._started and self._started[0] <= now - 60:
            self._started.popleft()
        return self._started[0] + 60 - now if rate and len(self._started) >= rate else 0.0


# --- many calls at once


def do_all(
    items: Iterable[_Item],
    do: Callable[[_Item], _Result],
    record: Callable[[Future[_Result], _Item], None],
    stop: Callable[[str], None],
    at_once: int,
) -> int:
    """Do every item, `at_once` at a time, and record each in this thread as it ends; returns how many were abandoned.

    `stop` is called with a reason on Ctrl-C, SIGTERM or an internal error; after that `do` must start
    nothing that costs money. Running items then have a minute to finish, or until a second Ctrl-C.
    """
    pool = ThreadPoolExecutor(max_workers=at_once)
    running: dict[Future[_Result], _Item] = {}
    ended: SimpleQueue[Future[_Result]] = SimpleQueue()
    deadline: float | None = None
    try:
        with _signals_counted() as signals:
            for item in items:
                future = pool.submit(do, item)
                running[future] = item
                future.add_done_callback(ended.put)
            while running:
                if signals and deadline is None:
                    stop("interrupted; give the same command again to go on")
                    deadline = time.monotonic() + GRACE
                if len(signals) > 1 or (deadline is not None and time.monotonic() > deadline):
                    break
                with contextlib.suppress(Empty):
                    future = ended.get(timeout=_LOOK)
                    record(future, running.pop(future))
        return sum(future.running() for future in running)
    except BaseException:
        stop("an internal error")
        raise
    finally:
        pool.shutdown(wait=deadline is None, cancel_futures=True)


@contextlib.contextmanager
def _signals_counted() -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM, which a machine that shuts down sends, are only listed: an exception between any two steps
    of Python could leave a lock taken, or half a record. The third one raises, in case this thread hangs.
    """
    signals: list[int] = []

    def count(number: int, frame: object) -> None:
        signals.append(number)
        if len(signals) > 2:
            raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()  # only it can handle signals
    numbers = (signal.SIGINT, signal.SIGTERM) if is_main else ()
    before = {name: signal.signal(name, count) for name in numbers if signal.getsignal(name) != signal.SIG_IGN}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
