"""One call of an editor: bounded in number and money, tried again for named reasons only."""

import dataclasses
import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .call_limits import Budget, CallLimits, Gate
from .records import Answer, storable
from .vendors.keys import NoKey, scrub


class Fault(Exception):
    """A call without an answer; what it says is free of keys."""

    def __init__(self, message: str):
        super().__init__(scrub(storable(message)))


class Transient(Fault):
    """The call may work when tried again; `charged` where the vendor may have done the work and billed it."""

    def __init__(self, message: str, retry_after: float | None = None, charged: bool = False):
        super().__init__(message)
        self.retry_after = retry_after
        self.charged = charged


class Rejected(Fault):
    """This call cannot work, however often it is tried: the step is recorded as failed with this reason."""

    def __init__(self, message: str, charged: bool = False, cost: float | None = None):
        super().__init__(message)
        self.charged = charged
        self.cost = cost  # of all its attempts, where money was spent on it


class Unusable(Fault):
    """No call can work (wrong key, no credit, no such model): the run stops, and nothing is recorded."""


class Refused(Exception):
    """What a user's own editor raises where it declines an instruction; the message is its reason."""


class Stopped(Exception):
    """The run is ending for another reason, so this call was not made."""


@dataclass(frozen=True)
class Reply:
    """The answer with the cost of all attempts, how long the one that worked took, and how many there were."""

    answer: Answer
    seconds: float
    attempts: int


def with_possible_cost(answer: Answer) -> Answer:
    """The answer, without a cost that is no amount of money: then the price counts."""
    cost = answer.cost
    if cost is None or (isinstance(cost, int | float) and math.isfinite(cost) and cost >= 0):
        return answer
    return dataclasses.replace(answer, cost=None, details={**answer.details, "cost_said": str(cost)})


class Caller:
    """All calls of one editor in a run, from any number of threads: its limits, its circuit and its money."""

    def __init__(self, limits: CallLimits, budget: Budget | None = None, price: float | None = None):
        self.limits = limits
        self.gate = Gate(limits)
        self.budget = budget or Budget()
        self.price = price or 0.0
        self.failures = 0  # calls in a row, without an answer between them
        self.lock = threading.Lock()
        self.stopping = threading.Event()

    def ask(self, call: Callable[[], Answer], judge: Callable[[Answer], Answer] = lambda answer: answer) -> Reply:
        """The answer to `call`; raises Rejected to be recorded, Unusable, OverBudget or Stopped to end the run.

        `judge` turns bytes that are no picture into an answer without one: not tried again, but counted by the circuit.
        """
        with self.gate.whole_call(self.stopping):
            try:
                return self.judge_reply(self.try_until_answered(call), judge)
            except Unusable:
                self.stop()  # at once: whoever waits at the gate must not try what cannot work
                raise

    def judge_reply(self, reply: Reply, judge: Callable[[Answer], Answer]) -> Reply:
        """The reply as judged; what the editor itself calls an answer sets the count of failures in a row to zero."""
        answer = judge(reply.answer)
        answer = dataclasses.replace(answer, reason=scrub(storable(answer.reason)))  # it may quote what came back
        if answer.status == "failed" or (answer.status == "no_image" and reply.answer.status == "ok"):
            fault = self.count_failure(answer.reason, 0.0)
            if isinstance(fault, Unusable):
                raise fault
        else:
            with self.lock:
                self.failures = 0
            self.gate.first_answer_came()
        return dataclasses.replace(reply, answer=answer)

    def try_until_answered(self, call: Callable[[], Answer]) -> Reply:
        """Try until there is an answer, a reason to give up, or no attempt left."""
        spent, paid = 0.0, 0
        for attempt in range(1, self.limits.attempts + 1):
            try:
                answer, seconds = self.attempt_once(call, again=attempt > 1)
            except Transient as error:
                spent, paid = (spent + self.price, paid + 1) if error.charged else (spent, paid)
                if attempt == self.limits.attempts or paid == self.limits.paid_attempts:
                    times = f"{attempt} times" if attempt > 1 else "once"
                    raise self.count_failure(f"{error} (tried {times})", spent) from error
                self.wait(self.delay(attempt, error.retry_after))
            except Rejected as error:
                spent += self.price if error.charged else 0.0
                raise self.count_failure(str(error), spent) from error
            else:
                return Reply(self.with_cost(answer, spent), seconds, attempt)
        raise AssertionError("the last attempt returns or raises")

    def attempt_once(self, call: Callable[[], Answer], again: bool = False) -> tuple[Answer, float]:
        """One attempt, inside the limits, its price held while it is in flight."""
        with self.gate.one_attempt(self.stopping, again):
            if self.stopping.is_set():
                raise Stopped("the run is ending")
            hold = self.budget.hold(self.price)
            cost = self.price  # until the call says otherwise
            started = time.monotonic()
            try:
                if self.stopping.is_set():  # while it waited for the money
                    cost = 0.0
                    raise Stopped("the run is ending")
                answer = with_possible_cost(call())
                cost = self.price if answer.cost is None else answer.cost
                return answer, time.monotonic() - started
            except (Transient, Rejected) as error:
                cost = self.price if error.charged else 0.0
                raise
            except NoKey as error:
                cost = 0.0
                raise Unusable(str(error)) from error
            except Unusable:
                cost = 0.0
                raise
            finally:
                self.budget.pay(hold, cost)

    def with_cost(self, answer: Answer, spent: float) -> Answer:
        """The answer free of keys, with what it and the attempts before it cost; null where no price is known."""
        cost = answer.cost
        if self.price or cost is not None:
            cost = round(spent + (self.price if cost is None else cost), 6)
        clean = scrub(storable({"reason": answer.reason, "text": answer.text, "details": answer.details}))
        return dataclasses.replace(answer, cost=cost, **clean)

    def delay(self, attempt: int, retry_after: float | None) -> float:
        """Doubling, with jitter so that callers turned away together do not come back together."""
        backoff = min(self.limits.longest_wait, self.limits.first_wait * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)
        return max(backoff, min(retry_after or 0.0, self.limits.longest_wait))

    def wait(self, seconds: float) -> None:
        if self.stopping.wait(seconds):
            raise Stopped("the run is ending")

    def count_failure(self, reason: str, spent: float) -> Exception:
        """Rejected; or Unusable, once so many calls in a row failed that more of them would only cost time."""
        with self.lock:
            self.failures += 1
            count = self.failures
        if count >= self.limits.failures:
            return Unusable(f"the last {count} calls all failed, the last one because: {reason}")
        return Rejected(reason, charged=spent > 0, cost=spent or None)

    def stop(self) -> None:
        """Make no further call; those in flight end by themselves."""
        self.stopping.set()
