"""One call of an editor: bounded in number and money, tried again for named reasons only."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from convergebench.generation.budget import Budget
from convergebench.generation.limits import Gate, Limits
from convergebench.generation.records import Answer


class Transient(Exception):
    """The call may work when tried again; `charged` where the vendor may have done the work and billed it."""

    def __init__(self, message: str, retry_after: float | None = None, charged: bool = False):
        super().__init__(message)
        self.retry_after = retry_after
        self.charged = charged


class Rejected(Exception):
    """This call cannot work, however often it is tried: the step is recorded as failed with this reason."""


class Unusable(Exception):
    """No call can work (wrong key, no credit, no such model): the run stops, and nothing is recorded."""


class Stopped(Exception):
    """The run is ending for another reason, so this call was not made."""


@dataclass(frozen=True)
class Reply:
    """The answer of the attempt that worked, how long that attempt took and how many there were."""

    answer: Answer
    seconds: float
    attempts: int


class Caller:
    """All calls of one editor in a run, from any number of threads: its limits, its circuit and its money."""

    def __init__(self, limits: Limits, budget: Budget | None = None, price: float | None = None):
        self.limits = limits
        self.gate = Gate(limits)
        self.budget = budget
        self.price = price or 0.0
        self.failures: list[str] = []  # in a row, without an answer between them
        self.lock = threading.Lock()
        self.stopping = threading.Event()

    def ask(self, call: Callable[[], Answer]) -> Reply:
        """The answer to `call`; raises Rejected to be recorded, Unusable, OverBudget or Stopped to end the run."""
        for attempt in range(1, self.limits.attempts + 1):
            try:
                answer, seconds = self.once(call)
            except Transient as error:
                if attempt == self.limits.attempts:
                    raise self.failed(f"{error}, {attempt} times") from error
                self.wait(self.delay(attempt, error.retry_after))
            except Rejected as error:
                raise self.failed(str(error)) from error
            else:
                with self.lock:
                    self.failures.clear()
                self.gate.open()
                return Reply(answer, seconds, attempt)
        raise AssertionError("the last attempt returns or raises")

    def once(self, call: Callable[[], Answer]) -> tuple[Answer, float]:
        """One attempt, inside the limits, its price held while it is in flight."""
        with self.gate.passing(self.stopping):
            if self.stopping.is_set():
                raise Stopped("the run is ending")
            held = self.budget.hold(self.price) if self.budget else None
            cost: float | None = 0.0
            try:
                started = time.monotonic()
                answer = call()
                cost = self.price if answer.cost is None else answer.cost
                return answer, time.monotonic() - started
            except Transient as error:
                cost = self.price if error.charged else 0.0
                raise
            finally:
                if self.budget and held is not None:
                    self.budget.settle(held, cost)

    def delay(self, attempt: int, retry_after: float | None) -> float:
        """Doubling, with jitter so that callers turned away together do not come back together."""
        backoff = min(self.limits.longest_wait, self.limits.first_wait * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)
        return max(backoff, min(retry_after or 0.0, self.limits.longest_wait))

    def wait(self, seconds: float) -> None:
        if self.stopping.wait(seconds):
            raise Stopped("the run is ending")

    def failed(self, reason: str) -> Exception:
        """Rejected; or Unusable, once so many calls in a row failed that more of them would only cost time."""
        with self.lock:
            self.failures.append(reason)
            count = len(self.failures)
        if count >= self.limits.failures:
            return Unusable(f"the last {count} calls all failed, the last one because: {reason}")
        return Rejected(reason)

    def stop(self) -> None:
        """No further call is made; those in flight are waited for."""
        self.stopping.set()
