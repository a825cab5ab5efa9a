"""One run of a judge over one question: what is missing is asked, and the fixed sample again, all within limits."""

import contextlib
import datetime
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.calls import Caller, CallLimits, Rejected, Stopped, Transient, Unusable
from convergebench.generation.files import Locked
from convergebench.generation.interruptible import do_all
from convergebench.generation.ledger import Budget, OverBudget
from convergebench.generation.records import Answer, UserError, canonical
from convergebench.generation.requirements import FetchedByFirstCall
from convergebench.generation.vendors.keys import scrub

from . import drift
from .answers import CALIBRATION, DATASET, Judgement, place_of
from .asks import Ask, Asks, in_random_order, plan_asks, read_pictures, read_step, require_dataset
from .backends import Choice, Shown, knows, trait
from .questions import Question, read_answer
from .store import Answers, JudgeLedger, one_judge_at_a_time, settle_what_is_known

Chosen = Callable[[Ask], bool]
Advance = Callable[[int, str], None]


@dataclass(frozen=True)
class Call:
    """One ask as it is made in one run."""

    ask: Ask
    purpose: str
    session: int
    repeat: int

    @property
    def identity(self) -> tuple[str, str, int, int]:
        return self.purpose, self.ask.key, self.session if self.purpose == CALIBRATION else 0, self.repeat


@dataclass
class Outcome:
    """What came of a run."""

    judge: str
    question: str
    session: int | None = None  # None: there was nothing to ask
    asked: int = 0
    already: int = 0
    calibration: int = 0  # of those asked
    without_value: dict[str, int] = field(default_factory=dict)  # reason: answers of this run
    left_out: dict[str, int] = field(default_factory=dict)  # reason: steps that are not asked at all
    left: dict[str, str] = field(default_factory=dict)  # chain and step: why the call failed; asked again the next time
    stopped: str | None = None
    spent: float = 0.0  # US dollars, by this run
    before: float = 0.0  # by this judge on this dataset before
    alarms: list[str] = field(default_factory=list)
    abandoned: int = 0  # calls that were still in flight when the run was given up

    @property
    def clean(self) -> bool:
        return self.stopped is None and not self.left

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Plan:
    """What a run would ask, and what that costs at most."""

    asks: Asks
    calls: list[Call]
    session: int
    already: int
    price: float | None  # of one call, at most

    @property
    def dollars(self) -> float | None:
        return None if self.price is None else round(self.price * len(self.calls), 6)


def plan_run(
    reader: Reader, choice: Choice, question: Question, answers: Answers, again: bool,
    chosen: Chosen = lambda ask: True, limit: int | None = None, sample: int = drift.SAMPLE,
    begin: bool = True,
) -> Plan:  # fmt: skip
    """What is missing, with the fixed sample spread among it; nothing at all where nothing is missing.

    Unless told not to, it begins the run or takes up the one that is under way.
    """
    asks = plan_asks(reader, question, knows(choice))
    wanted = [ask for ask in asks.asks if chosen(ask)]
    wanted = in_random_order(wanted)[:limit] if limit is not None else wanted
    missing = [ask for ask in wanted if (DATASET, ask.key, 0, 1) not in answers.rows]
    letters = max((len(ask.words) for ask in asks.asks), default=0)
    price = trait(choice.judge, "price")(letters + len(str(dict(question.schema))), len(question.pictures))
    already = len(wanted) - len(missing)
    if not asks.asks or not (missing or again or answers.is_under_way):
        return Plan(asks, [], 0, already, price)
    number = answers.session(question.sha256, begin)
    calls = [Call(ask, DATASET, number, 1) for ask in missing]
    known = answers.of_question(question.sha256)
    fixed = sampled(asks.asks, known, sample) if trait(choice.judge, "drifts") else []
    earlier = {row.key for row in known if row.purpose == CALIBRATION and row.session < number}
    again_asked = [
        Call(ask, CALIBRATION, number, repeat)
        for repeat in range(1, drift.FIRST_REPEATS + 1)
        for ask in fixed
        if repeat <= drift.REPEATS or ask.key not in earlier
    ]
    again_asked = [call for call in again_asked if call.identity not in answers.rows]
    return Plan(asks, spread(calls, again_asked), number, already, price)


def sampled(asks: Sequence[Ask], known: Sequence[Judgement], size: int) -> list[Ask]:
    """The fixed sample: what was asked for it before, and where that is less than wanted, more in random order."""
    keys = {row.key for row in known if row.purpose == CALIBRATION}
    ordered = in_random_order(asks)
    fixed = [ask for ask in ordered if ask.key in keys]
    return [*fixed, *(ask for ask in ordered if ask.key not in keys)][: max(size, len(fixed))]


def spread(calls: Sequence[Call], among: Sequence[Call]) -> list[Call]:
    """The sample evenly among the others, so that it sees the whole run."""
    places = [((place + 0.5) / len(calls), 0, call) for place, call in enumerate(calls)]
    places += [((place + 0.5) / len(among), 1, call) for place, call in enumerate(among)]
    return [call for _, _, call in sorted(places, key=lambda each: each[:2])]


def judge_question(
    dataset: Path, choice: Choice, question: Question, *, max_cost: float | None = None,
    chosen: Chosen = lambda ask: True, limit: int | None = None, sample: int = drift.SAMPLE, again: bool = False,
    advance: Callable[[int], contextlib.AbstractContextManager[Advance]] | None = None,
) -> Outcome:  # fmt: skip
    """Ask what is missing of one question. The same words given again go on where they stopped.

    `max_cost` is for all that this judge costs on this dataset, earlier runs included. `again` begins a new run though
    nothing is missing, to see whether the judge still answers as it did.
    """
    refuse_impossible_cost(max_cost)
    reader = Reader(dataset)
    require_dataset(reader)
    with one_judge_at_a_time(dataset, choice.label) as folder:
        answers = Answers(dataset, choice.label, question.name)
        plan = plan_run(reader, choice, question, answers, again, chosen, limit, sample)
        refuse_unknown_price(max_cost, plan.price, choice.label)
        outcome = Outcome(choice.label, question.name, plan.session or None, already=plan.already)
        outcome.left_out = dict(plan.asks.left_out)
        ledger = None
        if plan.price != 0 and (plan.calls or answers.calls):
            ledger = JudgeLedger(folder, all_costs(reader, choice.label, answers))
            settle_what_is_known(ledger, answers.calls)
        try:
            if plan.calls:
                refuse_unready(choice)
                budget = Budget(max_cost, ledger=ledger)
                outcome.before = budget.spent
                ask_all(plan, choice, answers, budget, reader, outcome, advance)
        finally:
            try:
                answers.fold()
            except Locked as error:
                outcome.stopped = outcome.stopped or f"the answers are kept and not in the dataset yet: {error}"
        if outcome.clean:
            answers.close_session()
        outcome.alarms = [
            each.sentence
            for each in drift.find_drift(row.to_dict() for row in answers.of_question(question.sha256))
            if each.session == plan.session and each.alarm
        ]
        return outcome


OWN_PRICE = (
    'write a line such as openai_tokens."MODEL" = { text = 1.0, image = 1.0, output = 8.0 }, US dollars for a million '
    "tokens, into a file and name it in CONVERGEBENCH_PRICES"
)


def refuse_impossible_cost(max_cost: float | None) -> None:
    if max_cost is not None and not (math.isfinite(max_cost) and max_cost >= 0):
        raise UserError(f"--max-cost is {max_cost}; it is a number of US dollars from 0")


def refuse_unknown_price(max_cost: float | None, price: float | None, label: str) -> None:
    if max_cost is not None and price is None:
        raise UserError(f"--max-cost needs the price of a call of {label!r}, which is not known: {OWN_PRICE}")


def refuse_unready(choice: Choice) -> None:
    lacking = trait(choice.judge, "ready")()
    if lacking and not isinstance(lacking, FetchedByFirstCall):
        raise UserError(f"{choice.label} cannot judge here: {lacking}")


def all_costs(reader: Reader, label: str, answers: Answers) -> float:
    """What this judge's answers in the dataset have cost, for a ledger that is begun anew."""
    others = [file for file in reader.files("judgements") if file != answers.file]
    rows = [row for file in others for row in reader.file_table(file).to_pylist() if row["judge"] == label]
    return round(answers.cost - sum(answers.calls.values()) + sum(row["cost"] or 0.0 for row in rows), 6)


def ask_all(
    plan: Plan, choice: Choice, answers: Answers, budget: Budget, reader: Reader, outcome: Outcome,
    advance: Callable[[int], contextlib.AbstractContextManager[Advance]] | None,
) -> None:  # fmt: skip
    """Make every call of a plan, several at a time, until nothing is left or something says stop."""
    limits = CallLimits(**{"concurrency": trait(choice.judge, "concurrency"), **choice.rates})
    caller = Caller(limits, budget, plan.price)
    stopping = threading.Event()

    def stop(reason: str) -> None:
        outcome.stopped = outcome.stopped or reason
        stopping.set()
        caller.stop()

    def take(call: Call) -> Judgement | None:
        return None if stopping.is_set() else make_call(call, choice, answers, caller, reader)

    try:
        with shown_progress(advance, len(plan.calls)) as tell:

            def record(future: Future[Judgement | None], call: Call) -> None:
                count_call(future, call, outcome, stop)
                tell(1, f"${budget.spent:.2f}" if plan.price else "")

            at_once = min(2 * limits.concurrency, max(len(plan.calls), 1))
            outcome.abandoned = do_all(plan.calls, take, record, stop, at_once)
    finally:
        outcome.spent = float(budget.paid)


@contextlib.contextmanager
def shown_progress(
    advance: Callable[[int], contextlib.AbstractContextManager[Advance]] | None, calls: int
) -> Iterator[Advance]:
    if advance is None:
        yield lambda count, words: None
        return
    with advance(calls) as tell:
        yield tell


def count_call(future: Future[Judgement | None], call: Call, outcome: Outcome, stop: Callable[[str], None]) -> None:
    """Count one answer, or say why there is none."""
    try:
        judgement = future.result()
    except Stopped:
        return
    except Rejected as error:
        outcome.left[f"{call.ask.chain.id}, step {call.ask.step.step}"] = str(error)
    except (Unusable, OverBudget, UserError) as error:
        stop(str(error))
    else:
        if judgement:
            outcome.asked += 1
            outcome.calibration += judgement.purpose == CALIBRATION
            if judgement.reason:
                counts = Counter(outcome.without_value)
                counts[judgement.reason] += 1
                outcome.without_value = dict(counts)


def make_call(call: Call, choice: Choice, answers: Answers, caller: Caller, reader: Reader) -> Judgement:
    """One answer, kept on the disk before its cost is settled: what was paid for is never asked again."""
    pictures = list(read_pictures(reader, call.ask, trait(choice.judge, "side")))
    shown = Shown(call.ask, pictures, partial(read_step, reader, call.ask.chain))
    billed, kept = 0.0, []

    def attempt() -> Answer:
        nonlocal billed
        started = time.monotonic()
        try:
            answer = choice.judge.answer(shown)
        except (Transient, Rejected) as error:
            billed += caller.price if error.charged else 0.0
            raise
        own = caller.price if answer.cost is None else answer.cost
        known = bool(caller.price) or answer.cost is not None
        judgement = judgement_of(
            call, choice, answer, round(billed + own, 6) if known else None, round(time.monotonic() - started, 3)
        )
        ledger = caller.budget.ledger
        answers.append(judgement, ledger.take_call() if isinstance(ledger, JudgeLedger) else None, own)
        kept.append(judgement)
        return answer

    caller.ask(attempt)
    return kept[0]


def judgement_of(call: Call, choice: Choice, answer: Answer, cost: float | None, latency: float) -> Judgement:
    """What an answer comes to, free of keys."""
    ask, question, details = call.ask, call.ask.question, dict(answer.details)
    reading = read_answer(question, answer.text, len(ask.things))
    reason, detail = reading.reason, reading.detail
    if answer.status == "refused":
        reason, detail, value, stored = "refused", answer.reason, None, None
    else:
        value, stored = reading.value, reading.answer
        if value is None and str(details.get("finish_reason")).lower() in ("length", "max_tokens"):
            reason = "cut_off"
    model = str(details.pop("model", ""))
    clean = scrub({"raw": answer.text, "detail": detail, "answer": stored, "details": details, "model": model})
    return Judgement(
        **place_of(ask.chain), step=ask.step.step, round=ask.step.round, position=ask.step.position,
        judge=choice.label, question=question.name, title=question.title, question_sha256=question.sha256,
        compared_with=question.compared_with, labelled_as=question.labelled_as,
        key=ask.key, purpose=call.purpose, session=call.session,
        repeat=call.repeat, value=value, answer=clean["answer"], reason=reason, detail=clean["detail"],
        raw=clean["raw"], model=clean["model"], settings=canonical(dict(choice.settings)),
        asked=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), latency=latency, cost=cost,
        details=canonical(clean["details"]),
    )  # fmt: skip
