"""Where the answers of one judge to one question are kept: a journal while they come in, then one Parquet file.

DATASET/.judging/JUDGE/QUESTION.jsonl          a line for each answer, durable before the next thing happens
DATASET/.judging/JUDGE/QUESTION.session.json   the run that is under way: its number and when it began
DATASET/.judging/JUDGE/ledger/calls.jsonl      what the judge's calls cost (see generation/ledger.py)
DATASET/data/judgements/JUDGE-QUESTION.parquet all answers; the journal is folded into it at the end of a run
"""

import contextlib
import datetime
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.files import Locked, disk_errors_explained, locked, write_whole
from convergebench.generation.ledger import Ledger
from convergebench.generation.records import UserError, canonical

from .answers import JUDGEMENTS, NAME, Judgement

FOLDER = ".judging"  # hidden, and never published
PAUSE = datetime.timedelta(hours=24)  # a run that stopped longer ago is over: its judge may have changed since
Identity = tuple[str, str, int, int]


def file_stem(label: str) -> str:
    """A judge's name for files."""
    words = re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.")[:60]
    return f"{words}-{hashlib.sha256(label.encode()).hexdigest()[:8]}"


def judge_folder(dataset: Path, label: str) -> Path:
    return dataset / FOLDER / file_stem(label)


@contextlib.contextmanager
def one_judge_at_a_time(dataset: Path, label: str) -> Iterator[Path]:
    """The judge's folder, locked: two processes would ask the same twice."""
    with one_at_a_time(judge_folder(dataset, label), f"{label} is judging {dataset} in another process; wait for it"):
        yield judge_folder(dataset, label)


@contextlib.contextmanager
def one_at_a_time(folder: Path, busy: str) -> Iterator[None]:
    """The folder, locked; UserError with these words where another process has it."""
    with contextlib.ExitStack() as stack:
        with disk_errors_explained(folder):
            try:
                stack.enter_context(locked(folder))
            except Locked:
                raise UserError(busy) from None
        yield


class JudgeLedger(Ledger):
    """The ledger of one judge, which knows the name of the call that this thread is about to make."""

    def __init__(self, folder: Path, opening: float):
        self.thread = threading.local()
        super().__init__(folder, opening)

    def intend(self, amount: Decimal) -> str:
        call = super().intend(amount)
        self.thread.call = call
        return call

    def take_call(self) -> str | None:
        """The name of this thread's call; None of one that costs nothing."""
        call: str | None = getattr(self.thread, "call", None)
        self.thread.call = None
        return call


class Answers:
    """The answers of one judge to one question, those of earlier runs included."""

    def __init__(self, dataset: Path, label: str, question: str):
        self.dataset, self.folder = dataset, judge_folder(dataset, label)
        self.file = f"data/{NAME}/{file_stem(label)}-{question}.parquet"
        self.journal = self.folder / f"{question}.jsonl"
        self.session_file = self.folder / f"{question}.session.json"
        self.lock = threading.Lock()
        self.rows: dict[Identity, Judgement] = {}
        self.calls: dict[str, float] = {}  # of the journal's answers: what each call cost, by its name in the ledger
        if (dataset / self.file).exists():
            for row in Reader(dataset).file_table(self.file).to_pylist():
                self.add(Judgement.from_dict(row))
        for line in read_lines(self.journal):
            self.add(Judgement.from_dict(line["judgement"]))
            if line.get("call"):
                self.calls[line["call"]] = line["own"]

    def add(self, judgement: Judgement) -> None:
        self.rows.setdefault(judgement.identity, judgement)

    def append(self, judgement: Judgement, call: str | None, own: float) -> None:
        """Keep an answer, durable when this returns; with what its own call cost, for a ledger that missed that."""
        with self.lock:
            append_line(self.journal, {"judgement": judgement.to_dict(), "call": call, "own": own})
            self.add(judgement)

    def of_question(self, sha256: str) -> list[Judgement]:
        """Those of the question as its file is now."""
        return [row for row in self.rows.values() if row.question_sha256 == sha256]

    @property
    def cost(self) -> float:
        return sum(row.cost or 0.0 for row in self.rows.values())

    def session(self, sha256: str, begin: bool = True) -> int:
        """The number of the run that goes on, or of a new one, which begins now unless it is only asked for."""
        done = max((row.session for row in self.of_question(sha256)), default=0)
        now = datetime.datetime.now(datetime.UTC)
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            known = json.loads(self.session_file.read_bytes())
            young = now - datetime.datetime.fromisoformat(known["begun"]) < PAUSE
            if known["question_sha256"] == sha256 and young:
                return int(known["session"])
        number = done + 1
        about = {"session": number, "begun": now.isoformat(), "question_sha256": sha256}
        if begin:
            write_whole(self.session_file, canonical(about).encode())
        return number

    @property
    def is_under_way(self) -> bool:
        return self.session_file.exists()

    def close_session(self) -> None:
        self.session_file.unlink(missing_ok=True)

    def fold(self) -> None:
        """Write all answers as the dataset's file and its card, and then let the journal go.

        Raises Locked where another command is writing the dataset: the journal stays, and the next run folds it.
        """
        if not self.journal.exists():
            return
        rows = sorted(self.rows.values(), key=lambda row: row.order)
        with disk_errors_explained(self.dataset), locked(self.dataset / FOLDER, wait=True), locked(self.dataset):
            card.refuse_other_folders(self.dataset)
            values = (row.to_dict() for row in rows)
            written = schema.write_listed(self.dataset, self.file, JUDGEMENTS, values)
            card.write(self.dataset, fresh={self.file: written})
            self.journal.unlink()


def read_lines(journal: Path) -> list[dict[str, Any]]:
    """A journal's lines; a last one without its end is cut off, because its answer never was durable."""
    if not journal.exists():
        return []
    data = journal.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with journal.open("r+b") as file:
            file.truncate(whole)
    try:
        return [json.loads(line) for line in data[:whole].splitlines()]
    except ValueError as error:
        raise UserError(f"{journal} cannot be read ({error}); restore it, or remove it to ask again") from error


def append_line(journal: Path, entry: dict[str, Any]) -> None:
    """One more line, durable when this returns."""
    with disk_errors_explained(journal.parent), journal.open("ab") as file:
        file.write((canonical(entry) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())


def settle_what_is_known(ledger: Ledger, calls: Mapping[str, float]) -> None:
    """Write what calls did cost whose answers are kept and whose process died before it could."""
    for call in ledger.unsettled.keys() & calls.keys():
        with ledger.turn():
            amount = ledger.unsettled.pop(call)
            cost = Decimal(str(calls[call]))
            ledger.settle(call, cost)
            ledger.settled += cost
            if cost > amount:
                ledger.dearest[amount] = max(cost, ledger.dearest.get(amount, cost))
