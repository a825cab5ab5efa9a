"""One run of a judge over one question: what is missing, and the fixed sample again.

DATASET/.judging/JUDGE/QUESTION.jsonl          the journal: a line for each answer
DATASET/.judging/JUDGE/QUESTION.session.json   the run that is under way: its number and when it began
DATASET/data/judgements/JUDGE-QUESTION.parquet all answers, when the run has ended
"""

import contextlib
import datetime
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import place_columns
from convergebench.dataset_builder.dataset.schema import write
from convergebench.generation.files import Locked, disk_errors_explained, locked, write_whole
from convergebench.generation.keys import scrub
from convergebench.generation.progress import progress_bar
from convergebench.generation.records import Answer, canonical

from . import backends, drift, questions
from .answers import CALIBRATION, JUDGEMENTS, Identity, Judgement, identity_of
from .asks import Ask, plan_asks, read_pictures, read_step
from .backends import BaseJudge, Shown
from .journal import Line, Outcome, ask_all, file_stem, read_journal, refuse_unlimitable_cost
from .questions import Question

FOLDER = ".judging"  # hidden, and never published
_PAUSE = datetime.timedelta(hours=24)  # a run that stopped longer ago is over


class Run:
    """One judge's answers to one question so far, and the missing calls.

    The fixed sample is spread among them. If nothing is missing there are none,
    unless `again` is set or an earlier run is unfinished.
    """

    def __init__(
        self,
        dataset: Path,
        judge: BaseJudge,
        question: Question,
        limit: int | None = None,
        editors: Sequence[str] = (),
        programs: Sequence[str] = (),
        calibration: int | None = None,
        again: bool = False,
    ):
        self.reader, self.judge, self.question = Reader(dataset), judge, question
        self.file = f"data/{JUDGEMENTS.name}/{file_stem(judge.label)}-{question.name}.parquet"
        folder = dataset / FOLDER / file_stem(judge.label)
        self.journal, self._begun = folder / f"{question.name}.jsonl", folder / f"{question.name}.session.json"
        self._lines = read_journal(self.journal)
        is_written = (dataset / self.file).exists()
        rows = self.reader.file_table(self.file).to_pylist() if is_written else []
        self.rows: dict[Identity, Judgement] = {}
        for row in [*rows, *(line["judgement"] for line in self._lines)]:
            self._add(Judgement(**row))
        asks, self.left_out = plan_asks(self.reader, question, judge.knows)
        chosen = [ask for ask in asks if not editors or ask.chain.editor in editors]
        chosen = [ask for ask in chosen if not programs or ask.chain.program.id in programs]
        # In the order of the keys, which is random and fixed: the first few are a sample of all.
        chosen = chosen if limit is None else sorted(chosen, key=lambda ask: ask.key)[:limit]
        missing = [ask for ask in chosen if identity_of(ask) not in self.rows]
        self.already = len(chosen) - len(missing)
        letters = max((len(ask.words) for ask in asks), default=0) + len(str(dict(question.schema)))
        self.price = judge.most_dollars(letters, len(question.pictures))  # of one call
        self.session, self.calls, self.continues = 0, list[Ask](), False
        if asks and (missing or again or self._begun.exists()):
            self.session = self._next_session()
            sample = self._sample(asks, drift.SAMPLE if calibration is None else calibration)
            self.calls = _spread([replace(ask, session=self.session) for ask in missing], sample)

    def _add(self, judgement: Judgement) -> None:
        self.rows.setdefault(identity_of(judgement), judgement)

    def _of_question(self) -> list[Judgement]:
        return [row for row in self.rows.values() if row.question_sha256 == self.question.sha256]

    @property
    def dollars(self) -> float | None:
        return None if self.price is None else round(self.price * len(self.calls), 6)

    def _next_session(self) -> int:
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            session = json.loads(self._begun.read_bytes())
            is_recent = _now() - datetime.datetime.fromisoformat(session["begun"]) < _PAUSE
            if session["question_sha256"] == self.question.sha256 and is_recent:
                number, self.continues = int(session["session"]), True
                return number
        return max((row.session for row in self._of_question()), default=0) + 1

    def _sample(self, asks: Sequence[Ask], size: int) -> list[Ask]:
        """What this session lacks of the fixed sample; the first repeats it more often."""
        if not self.judge.drifts:
            return []
        rows = [row for row in self._of_question() if row.purpose == CALIBRATION]
        sampled, earlier = {row.key for row in rows}, {row.key for row in rows if row.session < self.session}
        ordered = sorted(asks, key=lambda ask: (ask.key not in sampled, ask.key))
        calls = [
            replace(ask, purpose=CALIBRATION, session=self.session, repeat=repeat)
            for repeat in range(1, drift.FIRST_REPEATS + 1)
            for ask in ordered[: max(size, sum(ask.key in sampled for ask in asks))]
            if repeat <= drift.REPEATS or ask.key not in earlier
        ]
        return [call for call in calls if identity_of(call) not in self.rows]

    def ask(self, max_cost: float | None, quiet: bool) -> Outcome:
        label = self.judge.label
        refuse_unlimitable_cost(max_cost, self.price, label)
        outcome = Outcome(label, self.question.name, self.session or None, already=self.already)
        outcome.left_out = dict(self.left_out)
        before = len(self._lines)
        try:
            if self.calls:
                self.judge.require_ready()
            if self.calls and not self.continues:
                begun = {"session": self.session, "begun": _now().isoformat()}
                begun |= {"question_sha256": self.question.sha256}
                write_whole(self._begun, canonical(begun).encode())
            limits = (self.price, max_cost, self._cost_so_far())
            bar = partial(progress_bar, "asking", unit="answers", quiet=quiet)
            ask_all(
                self.judge, self.journal, self._lines, outcome, limits, self.calls, self._shown, self._entry, bar
            )
        finally:
            new = [Judgement(**line["judgement"]) for line in self._lines[before:]]
            for judgement in new:
                self._add(judgement)
            try:
                self._write()
            except Locked as error:
                outcome.stopped = (
                    outcome.stopped or f"the answers are stored, but not in the dataset yet: {error}"
                )
        if outcome.clean:
            self._begun.unlink(missing_ok=True)
        outcome.calibration = sum(judgement.purpose == CALIBRATION for judgement in new)
        outcome.without_value = dict(Counter(judgement.reason for judgement in new if judgement.reason))
        drifts = drift.find_drift(row.values for row in self._of_question())
        outcome.alarms = [run.sentence for run in drifts if run.session == self.session and run.alarm]
        return outcome

    def _entry(self, ask: Ask, answer: Answer, cost: float | None, latency: float) -> Line:
        return {"judgement": dict(_judgement_of(ask, self.judge, answer, cost, latency).values)}

    def _shown(self, ask: Ask) -> Shown:
        schema = self.question.schema if self.question.value else {}
        pictures = list(read_pictures(self.reader, ask, self.judge.side))
        read = partial(read_step, self.reader, ask.chain)
        return Shown(ask.words, pictures, schema, self.question.name, ask, read)

    def _cost_so_far(self) -> float:
        files = [file for file in self.reader.files(JUDGEMENTS.name) if file != self.file]
        rows = [row for file in files for row in self.reader.file_table(file, ["judge", "cost"]).to_pylist()]
        others = sum(row["cost"] or 0.0 for row in rows if row["judge"] == self.judge.label)
        return round(others + sum(row.cost or 0.0 for row in self.rows.values()), 6)

    def _write(self) -> None:
        """Write all answers to the dataset, and remove the journal.

        Raises Locked if another command is writing; the journal then stays.
        """
        if not self.journal.exists():
            return
        dataset, rows = self.reader.folder, sorted(self.rows.values(), key=lambda row: row.order)
        with disk_errors_explained(dataset), locked(dataset / FOLDER, wait=True), locked(dataset):
            card.refuse_other_folders(dataset)
            write(dataset / self.file, JUDGEMENTS, rows, dataset)
            card.write(dataset, {JUDGEMENTS.name})
            self.journal.unlink()


def _spread(calls: Sequence[Ask], sample: Sequence[Ask]) -> list[Ask]:
    places = [((number + 0.5) / len(calls), 0, call) for number, call in enumerate(calls)]
    places += [((number + 0.5) / len(sample), 1, call) for number, call in enumerate(sample)]
    return [call for _, _, call in sorted(places, key=lambda place: place[:2])]


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
    """Ask a model about a dataset's steps; again, only what is missing.

    `judge` names the model with its options, such as `openai:model=NAME`;
    `question` is a name or a file. `max_cost` limits what this judge costs on this
    dataset, earlier runs included. A fixed sample of `calibration` steps is asked
    again in each run; the outcome's `alarms` say if the judge has drifted. `again`
    starts a new run even if nothing is missing.
    """
    folder, chosen, asked = Path(dataset), backends.choose(judge), questions.load(question)
    card.require_dataset(folder)
    asking = folder / FOLDER / file_stem(chosen.label)  # locked: two processes would ask the same twice
    with disk_errors_explained(asking), locked(asking):
        run = Run(folder, chosen, asked, limit, editors, programs, calibration, again)
        return run.ask(max_cost, quiet)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _judgement_of(ask: Ask, judge: BaseJudge, answer: Answer, cost: float | None, latency: float) -> Judgement:
    question, details = ask.question, dict(answer.details)
    value, stored, reason, detail = questions.read_answer(question, answer.text, len(ask.things))
    if answer.status == "refused":
        value, stored, reason, detail = None, None, "refused", answer.reason
    elif value is None and str(details.get("finish_reason")).lower() in ("length", "max_tokens"):
        reason = "cut_off"
    model = str(details.pop("model", ""))
    clean = scrub({"raw": answer.text, "detail": detail, "answer": stored, "model": model, "details": details})
    clean["details"] = canonical(clean["details"])
    same = {name: getattr(ask.step, name) for name in ("step", "round", "position")}
    same |= {name: getattr(question, name) for name in ("title", "compared_with", "labelled_as")}
    same |= {name: getattr(ask, name) for name in ("key", "purpose", "session", "repeat")}
    return Judgement(
        **place_columns(ask.chain),
        **same,
        **clean,
        judge=judge.label,
        question=question.name,
        question_sha256=question.sha256,
        value=value,
        reason=reason,
        settings=canonical(dict(judge.settings)),
        latency=latency,
        cost=cost,
        asked=_now().isoformat(timespec="seconds"),
    )
