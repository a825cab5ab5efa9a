"""One run of a judge over one question: asks what is missing, and the fixed sample again, within limits."""

import datetime
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.calls import Caller, CallLimits, Rejected, Stopped, Transient, Unusable
from convergebench.generation.files import Locked
from convergebench.generation.interruptible import do_all
from convergebench.generation.ledger import Budget, OverBudget
from convergebench.generation.records import Answer, UserError, canonical
from convergebench.generation.vendors.keys import scrub

from . import drift
from .answers import CALIBRATION, DATASET, JUDGEMENTS, Identity, Judgement
from .asks import Ask, Asks, in_random_order, plan_asks, read_pictures, read_step, require_dataset
from .backends import Choice, Shown
from .questions import Question, read_answer
from .store import Answers, JudgeLedger, ask_once, judge_folder, one_at_a_time

Chosen = Callable[[Ask], bool]
Progress = Callable[[int], AbstractContextManager[Callable[[int, str], object]]]


@dataclass(frozen=True)
class Call:
    """One call of a run."""

    ask: Ask
    purpose: str
    session: int
    repeat: int

    @property
    def identity(self) -> Identity:
        return self.purpose, self.ask.key, self.session if self.purpose == CALIBRATION else 0, self.repeat


@dataclass
class Outcome:
    """The result of a run."""

    judge: str
    question: str
    session: int | None = None  # None if there was nothing to ask
    asked: int = 0
    already: int = 0
    calibration: int = 0  # of those asked
    without_value: dict[str, int] = field(default_factory=dict)  # by reason: answers of this run
    left_out: dict[str, int] = field(default_factory=dict)  # by reason: steps that are not asked about at all
    left: dict[str, str] = field(
        default_factory=dict
    )  # by chain and step: why the call failed; the next run asks again
    stopped: str | None = None
    spent: float = 0.0  # US dollars, by this run
    before: float = 0.0  # US dollars, by earlier runs of this judge on this dataset
    alarms: list[str] = field(default_factory=list)
    abandoned: int = 0  # calls that were still in flight when the run was given up

    @property
    def clean(self) -> bool:
        return self.stopped is None and not self.left

    def to_dict(self) -> dict[str, object]:
        return dict(vars(self))


@dataclass(frozen=True)
class Plan:
    """The calls that a run would make, and their maximum cost."""

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
    """Plan the missing calls, with the fixed sample spread among them; no calls if nothing is missing.

    With `begin`, the run is recorded as started; an unfinished run is continued.
    """
    asks = plan_asks(reader, question, choice.judge.knows)
    selection = [ask for ask in asks.asks if chosen(ask)]
    selection = in_random_order(selection)[:limit] if limit is not None else selection
    missing = [ask for ask in selection if (DATASET, ask.key, 0, 1) not in answers.rows]
    letters = max((len(ask.words) for ask in asks.asks), default=0)
    price = choice.judge.price(letters + len(str(dict(question.schema))), len(question.pictures))
    already = len(selection) - len(missing)
    if not asks.asks or not (missing or again or answers.is_under_way):
        return Plan(asks, [], 0, already, price)
    session = answers.session(question.sha256, begin)
    calls = [Call(ask, DATASET, session, 1) for ask in missing]
    repeats = _sample_calls(asks.asks, answers, question, session, sample) if choice.judge.drifts else []
    return Plan(asks, _spread(calls, repeats), session, already, price)


def _sample_calls(asks: Sequence[Ask], answers: Answers, question: Question, session: int, sample: int) -> list[Call]:
    """The calls of the fixed sample that this session lacks; an ask is repeated more often in its first session."""
    rows = answers.of_question(question.sha256)
    earlier = {row.key for row in rows if row.purpose == CALIBRATION and row.session < session}
    calls = [
        Call(ask, CALIBRATION, session, repeat)
        for repeat in range(1, drift.FIRST_REPEATS + 1)
        for ask in sampled(asks, rows, sample)
        if repeat <= drift.REPEATS or ask.key not in earlier
    ]
    return [call for call in calls if call.identity not in answers.rows]


def sampled(asks: Sequence[Ask], rows: Sequence[Judgement], size: int) -> list[Ask]:
    """The fixed sample: the asks of earlier sessions, filled up in a fixed pseudo-random order."""
    keys = {row.key for row in rows if row.purpose == CALIBRATION}
    ordered = in_random_order(asks)
    fixed = [ask for ask in ordered if ask.key in keys]
    return [*fixed, *(ask for ask in ordered if ask.key not in keys)][: max(size, len(fixed))]


def _spread(calls: Sequence[Call], sample: Sequence[Call]) -> list[Call]:
    """All calls, with those of the sample spread evenly, so that they cover the whole run."""
    places = [((number + 0.5) / len(calls), 0, call) for number, call in enumerate(calls)]
    places += [((number + 0.5) / len(sample), 1, call) for number, call in enumerate(sample)]
    return [call for _, _, call in sorted(places, key=lambda place: place[:2])]


def judge_question(
    dataset: Path, choice: Choice, question: Question, *, max_cost: float | None = None,
    chosen: Chosen = lambda ask: True, limit: int | None = None, sample: int = drift.SAMPLE, again: bool = False,
    advance: Progress = lambda calls: nullcontext(lambda count, words: None),
) -> Outcome:  # fmt: skip
    """Ask one question about all steps without an answer. Calling it again with the same arguments resumes.

    `max_cost` limits the total cost of this judge on this dataset, earlier runs included. `again` starts a new run even
    if nothing is missing, to see whether the judge still answers as it did.
    """
    refuse_impossible_cost(max_cost)
    reader = Reader(dataset)
    require_dataset(reader)
    folder = judge_folder(dataset, choice.label)
    with one_at_a_time(folder, f"{choice.label} is judging {dataset} in another process; wait for it"):
        answers = Answers(dataset, choice.label, question.name)
        plan = plan_run(reader, choice, question, answers, again, chosen, limit, sample)
        refuse_unknown_price(max_cost, plan.price, choice.label)
        outcome = Outcome(choice.label, question.name, plan.session or None, already=plan.already)
        outcome.left_out = dict(plan.asks.left_out)
        ledger = None
        if plan.price != 0 and (plan.calls or answers.journal.calls):
            ledger = JudgeLedger(folder, _cost_so_far(reader, choice.label, answers), answers.journal)
        try:
            if plan.calls:
                choice.require_ready()
                budget = Budget(max_cost, ledger=ledger)
                outcome.before = budget.spent
                _ask_all(plan, choice, answers, budget, reader, outcome, advance)
        finally:
            try:
                answers.write()
            except Locked as error:
                outcome.stopped = outcome.stopped or f"the answers are stored, but not in the dataset yet: {error}"
        if outcome.clean:
            answers.close_session()
        outcome.alarms = [
            drifted.sentence
            for drifted in drift.find_drift(row.values for row in answers.of_question(question.sha256))
            if drifted.session == plan.session and drifted.alarm
        ]
        return outcome


def refuse_impossible_cost(max_cost: float | None) -> None:
    if max_cost is not None and not (math.isfinite(max_cost) and max_cost >= 0):
        raise UserError(f"--max-cost must be a number of US dollars from 0, got {max_cost}")


def refuse_unknown_price(max_cost: float | None, price: float | None, label: str) -> None:
    if max_cost is not None and price is None:
        raise UserError(
            f"--max-cost needs the price of a call of {label!r}, which is not known: write a line such as "
            'openai_tokens."MODEL" = { text = 1.0, image = 1.0, output = 8.0 }, US dollars for a million tokens, '
            "into a file and name it in CONVERGEBENCH_PRICES"
        )


def _cost_so_far(reader: Reader, label: str, answers: Answers) -> float:
    """The cost of this judge's answers in the dataset, as the opening balance of a new ledger."""
    files = [file for file in reader.files(JUDGEMENTS.name) if file != answers.file]
    rows = [row for file in files for row in reader.file_table(file, ["judge", "cost"]).to_pylist()]
    others = sum(row["cost"] or 0.0 for row in rows if row["judge"] == label)
    return round(answers.cost - sum(answers.journal.calls.values()) + others, 6)


def _ask_all(
    plan: Plan, choice: Choice, answers: Answers, budget: Budget, reader: Reader, outcome: Outcome, advance: Progress
) -> None:
    """Make every call of a plan, several at a time, until all are done or the run has to stop."""
    limits = CallLimits(**{"concurrency": choice.judge.concurrency, **choice.rates})
    caller, stopping = Caller(limits, budget, plan.price), threading.Event()

    def stop(reason: str) -> None:
        outcome.stopped = outcome.stopped or reason
        stopping.set()
        caller.stop()

    def take(call: Call) -> Judgement:
        if stopping.is_set():
            raise Stopped("the run is ending")
        return _make_call(call, choice, answers, caller, reader)

    try:
        with advance(len(plan.calls)) as tell:

            def record(future: Future[Judgement], call: Call) -> None:
                _count_call(future, call, outcome, stop)
                tell(1, f"${budget.spent:.2f}" if plan.price else "")

            at_once = min(2 * limits.concurrency, max(len(plan.calls), 1))
            outcome.abandoned = do_all(plan.calls, take, record, stop, at_once)
    finally:
        outcome.spent = float(budget.paid)


def _count_call(future: Future[Judgement], call: Call, outcome: Outcome, stop: Callable[[str], None]) -> None:
    """Count one answer, or record why there is none."""
    try:
        judgement = future.result()
    except Stopped:
        return
    except Rejected as error:
        outcome.left[f"{call.ask.chain.id}, step {call.ask.step.step}"] = str(error)
    except (Unusable, OverBudget, UserError) as error:
        stop(str(error))
    else:
        outcome.asked += 1
        outcome.calibration += judgement.purpose == CALIBRATION
        if judgement.reason:
            outcome.without_value = dict(Counter(outcome.without_value) + Counter([judgement.reason]))


def _make_call(call: Call, choice: Choice, answers: Answers, caller: Caller, reader: Reader) -> Judgement:
    """Make one call and store the answer."""
    ask, question = call.ask, call.ask.question
    pictures = list(read_pictures(reader, ask, choice.judge.side))
    schema = question.schema if question.value else {}
    shown = Shown(ask.words, pictures, schema, question.name, ask, partial(read_step, reader, ask.chain))
    billed, started, judgements = 0.0, 0.0, []

    def attempt() -> Answer:
        nonlocal billed, started
        started = time.monotonic()
        try:
            return choice.judge.answer(shown)
        except (Transient, Rejected) as error:
            billed += caller.price if error.charged else 0.0
            raise

    def keep(answer: Answer, name: str | None, call_cost: float) -> None:
        is_priced = bool(caller.price) or answer.cost is not None
        cost, latency = round(billed + call_cost, 6) if is_priced else None, round(time.monotonic() - started, 3)
        judgements.append(judgement_of(call, choice, answer, cost, latency))
        answers.append(judgements[0], name, call_cost)

    ask_once(caller, attempt, keep)
    return judgements[0]


def judgement_of(call: Call, choice: Choice, answer: Answer, cost: float | None, latency: float) -> Judgement:
    """The row of an answer, with API keys removed."""
    ask, question, chain, details = call.ask, call.ask.question, call.ask.chain, dict(answer.details)
    reading = read_answer(question, answer.text, len(ask.things))
    reason, detail, value, stored = reading.reason, reading.detail, reading.value, reading.answer
    if answer.status == "refused":
        reason, detail, value, stored = "refused", answer.reason, None, None
    elif value is None and str(details.get("finish_reason")).lower() in ("length", "max_tokens"):
        reason = "cut_off"
    model = str(details.pop("model", ""))
    clean = scrub({"raw": answer.text, "detail": detail, "answer": stored, "details": details, "model": model})
    return Judgement(
        chain=chain.id, editor=chain.editor, source=chain.source.id, program=chain.program.id, run=chain.run,
        step=ask.step.step, round=ask.step.round, position=ask.step.position,
        judge=choice.label, question=question.name, title=question.title, question_sha256=question.sha256,
        compared_with=question.compared_with, labelled_as=question.labelled_as,
        key=ask.key, purpose=call.purpose, session=call.session,
        repeat=call.repeat, value=value, answer=clean["answer"], reason=reason, detail=clean["detail"],
        raw=clean["raw"], model=clean["model"], settings=canonical(dict(choice.settings)),
        asked=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), latency=latency, cost=cost,
        details=canonical(clean["details"]),
    )  # fmt: skip
