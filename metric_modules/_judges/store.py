"""Stores the answers of one judge to one question: first in a journal, then in one Parquet file.

DATASET/.judging/JUDGE/QUESTION.jsonl          a line for each answer, synced to disk before anything else happens
DATASET/.judging/JUDGE/QUESTION.session.json   the run that is under way: its number and when it began
DATASET/.judging/JUDGE/ledger/calls.jsonl      what the judge's calls cost (see generation/ledger.py)
DATASET/data/judgements/JUDGE-QUESTION.parquet all answers; the journal is moved into it at the end of a run
"""

import contextlib
import datetime
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.schema import write_listed
from convergebench.generation.calls import Caller
from convergebench.generation.files import Locked, disk_errors_explained, locked, write_whole
from convergebench.generation.ledger import Ledger
from convergebench.generation.records import Answer, UserError, canonical

from .answers import JUDGEMENTS, Identity, Judgement

FOLDER = ".judging"  # hidden, and never published
_PAUSE = datetime.timedelta(hours=24)  # a run that stopped longer ago is over: its judge may have changed since


def file_stem(label: str) -> str:
    """A judge's label as part of a file name."""
    words = re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.")[:60]
    return f"{words}-{hashlib.sha256(label.encode()).hexdigest()[:8]}"


def judge_folder(dataset: Path, label: str) -> Path:
    return dataset / FOLDER / file_stem(label)


@contextlib.contextmanager
def one_at_a_time(folder: Path, busy: str) -> Iterator[None]:
    """Lock the folder, because two processes would ask the same twice; UserError with this sentence if it is locked."""
    with contextlib.ExitStack() as stack:
        with disk_errors_explained(folder):
            try:
                stack.enter_context(locked(folder))
            except Locked:
                raise UserError(busy) from None
        yield


class Journal:
    """Paid answers: a line of JSON each, on disk before the cost of its call is settled."""

    def __init__(self, path: Path):
        self.path, self._lock = path, threading.Lock()
        self.entries = _read_lines(path)
        self.calls: dict[str, float] = {line["call"]: line["own"] for line in self.entries if line.get("call")}

    def append(self, entry: dict[str, Any], call: str | None, cost: float) -> None:
        """Add an answer with the cost of its call, in case the ledger misses that in a crash."""
        with self._lock, disk_errors_explained(self.path.parent), self.path.open("ab") as file:
            file.write((canonical({**entry, "call": call, "own": cost}) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())


def ask_once(caller: Caller, call: Callable[[], Answer], keep: Callable[[Answer, str | None, float], None]) -> Answer:
    """Make a call within its limits; `keep` is given the answer before its cost is settled, so it is paid for once."""

    def attempt() -> Answer:
        answer = call()
        ledger = caller.budget.ledger
        name = ledger.take_call() if isinstance(ledger, JudgeLedger) else None
        keep(answer, name, caller.price if answer.cost is None else answer.cost)
        return answer

    return caller.ask(attempt).answer


def _read_lines(journal: Path) -> list[dict[str, Any]]:
    """A journal's lines; an incomplete last line is truncated, because its answer was never on disk."""
    if not journal.exists():
        return []
    data = journal.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        with journal.open("r+b") as file:
            file.truncate(end)
    try:
        return [json.loads(line) for line in data[:end].splitlines()]
    except ValueError as error:
        raise UserError(f"{journal} cannot be read ({error}); restore it, or remove it to ask again") from error


class JudgeLedger(Ledger):
    """The ledger of one judge, which remembers the name of the call that this thread is about to make."""

    def __init__(self, folder: Path, opening: float, journal: Journal):
        self.thread = threading.local()
        super().__init__(folder, opening)
        # A process may have died after it stored an answer and before it settled the cost.
        for call in self.unsettled.keys() & journal.calls.keys():
            with self.turn():
                amount, cost = self.unsettled.pop(call), Decimal(str(journal.calls[call]))
                self.settle(call, cost)
                self.settled += cost
                if cost > amount:
                    self.dearest[amount] = max(cost, self.dearest.get(amount, cost))

    def intend(self, amount: Decimal) -> str:
        call = super().intend(amount)
        self.thread.call = call
        return call

    def take_call(self) -> str | None:
        """The name of this thread's call; None if it costs nothing."""
        call: str | None = getattr(self.thread, "call", None)
        self.thread.call = None
        return call


class Answers:
    """The answers of one judge to one question, including those of earlier runs."""

    def __init__(self, dataset: Path, label: str, question: str):
        self.dataset, folder = dataset, judge_folder(dataset, label)
        self.file = f"data/{JUDGEMENTS.name}/{file_stem(label)}-{question}.parquet"
        self.journal = Journal(folder / f"{question}.jsonl")
        self._session_file = folder / f"{question}.session.json"
        exists = (dataset / self.file).exists()
        rows = Reader(dataset).file_table(self.file, None).to_pylist() if exists else []
        self.rows: dict[Identity, Judgement] = {}
        for row in [*rows, *(line["judgement"] for line in self.journal.entries)]:
            self.add(Judgement(**row))

    def add(self, judgement: Judgement) -> None:
        self.rows.setdefault(judgement.identity, judgement)

    def append(self, judgement: Judgement, call: str | None, cost: float) -> None:
        """Store an answer; it is on disk when this returns."""
        self.journal.append({"judgement": dict(judgement.values)}, call, cost)
        self.add(judgement)

    def of_question(self, sha256: str) -> list[Judgement]:
        """The answers to the question as its file is now."""
        return [row for row in self.rows.values() if row.question_sha256 == sha256]

    @property
    def cost(self) -> float:
        return sum(row.cost or 0.0 for row in self.rows.values())

    def session(self, sha256: str, begin: bool = True) -> int:
        """The number of the run that is under way, or of a new one, which is recorded with `begin`."""
        now = datetime.datetime.now(datetime.UTC)
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            session = json.loads(self._session_file.read_bytes())
            is_recent = now - datetime.datetime.fromisoformat(session["begun"]) < _PAUSE
            if session["question_sha256"] == sha256 and is_recent:
                return int(session["session"])
        number = max((row.session for row in self.of_question(sha256)), default=0) + 1
        if begin:
            session = {"session": number, "begun": now.isoformat(), "question_sha256": sha256}
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
