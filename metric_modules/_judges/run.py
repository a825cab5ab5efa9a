"""One run of a judge over one question: asks what is missing, and the fixed sample again, within limits.

DATASET/.judging/JUDGE/QUESTION.jsonl          the journal: a line for each answer
DATASET/.judging/JUDGE/QUESTION.session.json   the run that is under way: its number and when it began
DATASET/data/judgements/JUDGE-QUESTION.parquet all answers; the journal is moved into it at the end of a run
"""

import contextlib
import datetime
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.schema import write_listed
from convergebench.generation.files import Locked, disk_errors_explained, locked, write_whole
from convergebench.generation.progress import progress_bar
from convergebench.generation.records import Answer, UserError, canonical
from convergebench.generation.vendors.keys import scrub

from . import backends, drift, questions
from .answers import CALIBRATION, JUDGEMENTS, Identity, Judgement, identity_of
from .asks import Ask, plan_asks, read_pictures, read_step
from .backends import BaseJudge, Shown
from .journal import Journal, Line, Outcome, file_stem, one_at_a_time, refuse_unlimitable_cost
from .questions import Question

FOLDER = ".judging"  # hidden, and never published
_PAUSE = datetime.timedelta(hours=24)  # a run that stopped longer ago is over: its judge may have changed since


class Answers:
    """The answers of one judge to one question, including those of earlier runs."""

    def __init__(self, reader: Reader, label: str, question: Question):
        self.dataset, self.sha256 = reader.folder, question.sha256
        self.file = f"data/{JUDGEMENTS.name}/{file_stem(label)}-{question.name}.parquet"
        self.folder = self.dataset / FOLDER / file_stem(label)
        self.journal = Journal(self.folder / f"{question.name}.jsonl")
        self._session_file = self.folder / f"{question.name}.session.json"
        is_written = (self.dataset / self.file).exists()
        rows = reader.file_table(self.file, None).to_pylist() if is_written else []
        self.rows: dict[Identity, Judgement] = {}
        for row in [*rows, *(line["judgement"] for line in self.journal.lines)]:
            self.add(Judgement(**row))

    def add(self, judgement: Judgement) -> None:
        self.rows.setdefault(identity_of(judgement), judgement)

    def of_question(self) -> list[Judgement]:
        """The answers to the question as its file is now."""
        return [row for row in self.rows.values() if row.question_sha256 == self.sha256]

    def session(self, begin: bool) -> int:
        """The number of the run that is under way, or of a new one, which is recorded with `begin`."""
        now = datetime.datetime.now(datetime.UTC)
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            session = json.loads(self._session_file.read_bytes())
            is_recent = now - datetime.datetime.fromisoformat(session["begun"]) < _PAUSE
            if session["question_sha256"] == self.sha256 and is_recent:
                return int(session["session"])
        number = max((row.session for row in self.of_question()), default=0) + 1
        if begin:
            session = {"session": number, "begun": now.isoformat(), "question_sha256": self.sha256}
            write_whole(self._session_file, canonical(session).encode())
        return number

    @property
    def is_under_way(self) -> bool:
        return self._session_file.exists()

    def close_session(self) -> None:
        self._session_file.unlink(missing_ok=True)

    def write(self) -> None:
        """Write all answers to the dataset's file, update its card, and remove the journal.

        Raises Locked if another command is writing the dataset: the journal stays for the next run.
        """
        if not self.journal.path.exists():
            return
        rows = sorted(self.rows.values(), key=lambda row: row.order)
        with disk_errors_explained(self.dataset), locked(self.dataset / FOLDER, wait=True), locked(self.dataset):
            card.refuse_other_folders(self.dataset)
            write_listed(self.dataset, self.file, JUDGEMENTS, rows)
            card.write(self.dataset)
            self.journal.path.unlink()


@dataclass(frozen=True)
class Plan:
    """The calls that a run would make, and their maximum cost."""

    calls: list[Ask]
    session: int  # 0 if there is nothing to ask
    already: int
    left_out: Counter[str]
    price: float | None  # of one call, at most

    @property
    def dollars(self) -> float | None:
        return None if self.price is None else round(self.price * len(self.calls), 6)


def plan_run(
    reader: Reader, judge: BaseJudge, question: Question, answers: Answers, *, begin: bool = False,
    limit: int | None = None, editors: Sequence[str] = (), programs: Sequence[str] = (),
    calibration: int | None = None, again: bool = False,
) -> Plan:  # fmt: skip
    """Plan the missing calls, with the fixed sample spread among them; no calls if nothing is missing.

    With `begin`, the run is recorded as started; an unfinished run is continued.
    """
    asks, left_out = plan_asks(reader, question, judge.knows)
    chosen = [ask for ask in asks if not editors or ask.chain.editor in editors]
    chosen = [ask for ask in chosen if not programs or ask.chain.program.id in programs]
    chosen = in_random_order(chosen)[:limit] if limit is not None else chosen
    missing = [ask for ask in chosen if identity_of(ask) not in answers.rows]
    letters = max((len(ask.words) for ask in asks), default=0)
    price = judge.most_dollars(letters + len(str(dict(question.schema))), len(question.pictures))
    already = len(chosen) - len(missing)
    if not asks or not (missing or again or answers.is_under_way):
        return Plan([], 0, already, left_out, price)
    session = answers.session(begin)
    size = drift.SAMPLE if calibration is None else calibration
    sample = _sample_calls(asks, answers, session, size) if judge.drifts else []
    calls = _spread([replace(ask, session=session) for ask in missing], sample)
    return Plan(calls, session, already, left_out, price)


def in_random_order(asks: Sequence[Ask]) -> list[Ask]:
    """The asks in a fixed pseudo-random order, so that the first few are a sample of all."""
    return sorted(asks, key=lambda ask: ask.key)


def _sample_calls(asks: Sequence[Ask], answers: Answers, session: int, size: int) -> list[Ask]:
    """The calls of the fixed sample that this session lacks; an ask is repeated more often in its first session.

    The sample holds the asks of earlier sessions, and is filled up in a fixed pseudo-random order.
    """
    first_asked: dict[str, int] = {}
    for row in answers.of_question():
        if row.purpose == CALIBRATION:
            first_asked[row.key] = min(row.session, first_asked.get(row.key, row.session))
    ordered = sorted(in_random_order(asks), key=lambda ask: ask.key not in first_asked)
    calls = [
        replace(ask, purpose=CALIBRATION, session=session, repeat=repeat)
        for repeat in range(1, drift.FIRST_REPEATS + 1)
        for ask in ordered[: max(size, sum(ask.key in first_asked for ask in asks))]
        if repeat <= drift.REPEATS or first_asked.get(ask.key, session) >= session
    ]
    return [call for call in calls if identity_of(call) not in answers.rows]


def _spread(calls: Sequence[Ask], sample: Sequence[Ask]) -> list[Ask]:
    """All calls, with those of the sample spread evenly, so that they cover the whole run."""
    places = [((number + 0.5) / len(calls), 0, call) for number, call in enumerate(calls)]
    places += [((number + 0.5) / len(sample), 1, call) for number, call in enumerate(sample)]
    return [call for _, _, call in sorted(places, key=lambda place: place[:2])]


def plan(dataset: str | Path, judge: str, question: str, **options: Any) -> tuple[BaseJudge, Question, Plan]:
    """What `judge` would ask with these arguments; writes nothing."""
    chosen, asked, reader = backends.choose(judge), questions.load(question), _open(Path(dataset))
    answers = Answers(reader, chosen.label, asked)
    return chosen, asked, plan_run(reader, chosen, asked, answers, **options)


def judge(
    dataset: str | Path,
    judge: str,
    question: str,
    *,
    max_cost: float | None = None,
    limit: int | None = None,
    editors: Sequence[str] = (),
    programs: Sequence[str] = (),
    calibration: int | None = None,
    again: bool = False,
    quiet: bool = False,
) -> Outcome:
    """Ask a model one question about a dataset's steps; calling it again asks only what is missing.

    `judge` names the model with its options, such as `gemini` or `openai:model=NAME,base_url=http://HOST/v1`;
    `question` is a question's name or a file. `max_cost` limits the total cost of this judge on this dataset, earlier
    runs included. A fixed sample of `calibration` steps is asked again in each run; the outcome's `alarms` say if the
    judge no longer answers as it did. `again` starts a new run even if nothing is missing.
    """
    chosen, asked, reader = backends.choose(judge), questions.load(question), _open(Path(dataset))
    label = chosen.label
    folder = Path(dataset) / FOLDER / file_stem(label)
    with one_at_a_time(folder, f"{label} is judging {dataset}"):
        answers = Answers(reader, label, asked)
        plan = plan_run(
            reader, chosen, asked, answers, begin=True, limit=limit, editors=editors, programs=programs,
            calibration=calibration, again=again,
        )  # fmt: skip
        refuse_unlimitable_cost(max_cost, plan.price, label)
        outcome = Outcome(label, asked.name, plan.session or None, already=plan.already, left_out=dict(plan.left_out))
        before = len(answers.journal.lines)

        def entry(ask: Ask, answer: Answer, cost: float | None, latency: float) -> Line:
            return {"judgement": dict(judgement_of(ask, chosen, answer, cost, latency).values)}

        try:
            if plan.calls:
                chosen.require_ready()
            answers.journal.ask_all(
                chosen, plan.calls, partial(_shown, reader, chosen), entry, outcome, plan.price, max_cost,
                _cost_so_far(reader, label, answers), lambda calls: progress_bar("asking", calls, "answers", quiet),
            )  # fmt: skip
        finally:
            new = [Judgement(**line["judgement"]) for line in answers.journal.lines[before:]]
            for judgement in new:
                answers.add(judgement)
            try:
                answers.write()
            except Locked as error:
                outcome.stopped = outcome.stopped or f"the answers are stored, but not in the dataset yet: {error}"
        if outcome.clean:
            answers.close_session()
        outcome.calibration = sum(judgement.purpose == CALIBRATION for judgement in new)
        outcome.without_value = dict(Counter(judgement.reason for judgement in new if judgement.reason))
        drifts = drift.find_drift(row.values for row in answers.of_question())
        outcome.alarms = [run.sentence for run in drifts if run.session == plan.session and run.alarm]
        return outcome


def _open(dataset: Path) -> Reader:
    """The dataset's reader; raises UserError if there is none, or if its folder has files that are not part of it."""
    reader = Reader(dataset)
    if not reader.files("chains"):
        raise UserError(f"{dataset} is not a dataset: it has no data/chains; `convergebench build` makes one")
    card.refuse_other_folders(dataset)
    return reader


def _cost_so_far(reader: Reader, label: str, answers: Answers) -> float:
    """The cost of this judge's answers in the dataset, as the opening balance of a new ledger."""
    files = [file for file in reader.files(JUDGEMENTS.name) if file != answers.file]
    rows = [row for file in files for row in reader.file_table(file, ["judge", "cost"]).to_pylist()]
    others = sum(row["cost"] or 0.0 for row in rows if row["judge"] == label)
    return round(others + sum(row.cost or 0.0 for row in answers.rows.values()), 6)


def _shown(reader: Reader, judge: BaseJudge, ask: Ask) -> Shown:
    question = ask.question
    schema = question.schema if question.value else {}
    pictures = list(read_pictures(reader, ask, judge.side))
    return Shown(ask.words, pictures, schema, question.name, ask, partial(read_step, reader, ask.chain))


def judgement_of(ask: Ask, judge: BaseJudge, answer: Answer, cost: float | None, latency: float) -> Judgement:
    """The row of an answer, with API keys removed."""
    question, chain, details = ask.question, ask.chain, dict(answer.details)
    value, stored, reason, detail = questions.read_answer(question, answer.text, len(ask.things))
    if answer.status == "refused":
        value, stored, reason, detail = None, None, "refused", answer.reason
    elif value is None and str(details.get("finish_reason")).lower() in ("length", "max_tokens"):
        reason = "cut_off"
    model = str(details.pop("model", ""))
    clean = scrub({"raw": answer.text, "detail": detail, "answer": stored, "model": model, "details": details})
    return Judgement(
        chain=chain.id, editor=chain.editor, source=chain.source.id, program=chain.program.id, run=chain.run,
        step=ask.step.step, round=ask.step.round, position=ask.step.position, judge=judge.label,
        question=question.name, title=question.title, question_sha256=question.sha256,
        compared_with=question.compared_with, labelled_as=question.labelled_as,
        key=ask.key, purpose=ask.purpose, session=ask.session, repeat=ask.repeat, value=value, reason=reason,
        settings=canonical(judge.settings), latency=latency, cost=cost,
        asked=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **{**clean, "details": canonical(clean["details"])},
    )  # fmt: skip
