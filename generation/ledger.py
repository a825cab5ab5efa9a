"""What a run has cost, in a file that all its processes share, so that a limit on money holds for all of them together.

RUN/ledger/calls.jsonl has a line of JSON for each event, only ever appended to, under one lock, and durable before the
next thing happens:

{"check": "...", "opening": 0.12}                    what the run's steps had cost when the ledger was begun
{"call": "K7-0", "check": "...", "intent": 0.04}     written before a call is made: the most that it is expected to cost
{"call": "K7-0", "check": "...", "settled": 0.039}   written after it: what it did cost

A call without a settled line was in flight when its process died. The vendor may have billed it, so it counts as spent
until somebody has looked at the bill and added the settled line by hand: such a line needs no checksum.
"""

import contextlib
import hashlib
import json
import math
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from .files import disk_errors_explained, locked
from .records import UserError, canonical

PLACE = "ledger/calls.jsonl"
SIZE = "size"  # beside it: how many bytes it had, because lines that are gone from its end would not be missed
ROOM = 64_000_000  # bytes that must be free before a call is paid for, or its answer might find no place


class Account:
    """What the lines of a ledger come to, as far as they were taken in."""

    def __init__(self, path: Path):
        self.path = path
        self.lines = 0
        self.settled = Decimal(0)
        self.unsettled: dict[str, Decimal] = {}
        self.dearest: dict[Decimal, Decimal] = {}  # by what a call was to cost: the most that one did cost, if more

    @property
    def spent(self) -> Decimal:
        """All that was spent, or may have been."""
        return self.settled + sum((expected(amount, self.dearest) for amount in self.unsettled.values()), Decimal(0))

    def take_in(self, line: bytes) -> None:
        """Count one line."""
        self.lines += 1
        try:
            call, kind, amount = parse(line)
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(
                f"{self.path}, line {self.lines}, is no entry of a ledger ({error}); restore the file, "
                f"or remove {self.path.parent} to count what the run's steps say they cost"
            ) from error
        if kind == "intent":
            self.unsettled[call] = amount
            return
        self.settled += amount
        intended = self.unsettled.pop(call, amount)
        if intended and amount > intended:
            self.dearest[intended] = max(amount, self.dearest.get(intended, amount))


class Ledger(Account):
    """The ledger of one run, as one process sees it: what the others have spent, and its own lines added."""

    def __init__(self, run: Path, opening: float = 0.0):
        super().__init__(run / PLACE)
        self.folder = self.path.parent
        self.name = secrets.token_hex(4)
        self.calls = 0
        self.read_to = 0  # bytes
        with self.turn():
            if self.read_to == 0:
                self.append({"opening": opening})
                self.settled = amount_of(opening)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Nobody else writes while the block runs, and what they wrote before is known."""
        with disk_errors_explained(self.folder), locked(self.folder, wait=True):
            self.read_others()
            yield

    def read_others(self) -> None:
        """Read the lines that were added since the last turn; a last one without its end was never acted upon."""
        refuse_shorter(self.path, self.read_to)
        with self.path.open("a+b") as file:
            file.seek(self.read_to)
            data = file.read()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):  # its writer died while it wrote, or it would hold the lock
                file.truncate(self.read_to + whole)
        for line in data[:whole].split(b"\n")[:-1]:
            self.take_in(line)
        self.read_to += whole

    def intend(self, amount: Decimal) -> str:
        """Write, in this process's turn, that a call is about to be made; gives it a name.

        Raises UserError where the disk has no room for what is paid for.
        """
        if (free := shutil.disk_usage(self.folder).free) < ROOM:
            raise UserError(
                f"only {free // 1_000_000} MB are free where {self.folder.parent} lies, and no call is paid for with "
                f"less than {ROOM // 1_000_000} MB for the answers: the disk is full; free some space and give the "
                "same command again"
            )
        self.calls += 1
        call = f"{self.name}-{self.calls}"
        self.append({"call": call, "intent": float(amount)})
        return call

    def settle(self, call: str | None, cost: Decimal) -> None:
        """Write, in this process's turn, what a call did cost."""
        if call is None:
            self.calls += 1
        self.append({"call": call or f"{self.name}-{self.calls}", "settled": float(cost)})

    def append(self, entry: dict[str, Any]) -> None:
        line = (canonical({**entry, "check": checksum(entry)}) + "\n").encode()
        with self.path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self.read_to += len(line)
        # Without being synced: after a power cut it may say less, which is true too.
        (self.folder / SIZE).write_text(f"{self.read_to:020}\n")
        self.lines += 1


def refuse_shorter(path: Path, least: int = 0) -> None:
    """Raise UserError where lines of a ledger are gone from its end: what they tell was spent."""
    with contextlib.suppress(OSError, ValueError):
        least = max(least, int((path.parent / SIZE).read_bytes()))
    size = path.stat().st_size if path.exists() else 0
    if size < least:
        raise UserError(
            f"{path} has {size} bytes and had {least}, so calls that were paid for are not in it; restore it, or "
            f"remove {path.parent} to count what the run's steps say they cost"
        )


def parse(line: bytes) -> tuple[str, str, Decimal]:
    """The call, the kind of entry and the amount that a line tells; raises an error for whatever is no such line."""
    entry = json.loads(line)
    is_checked, check = "check" in entry, entry.pop("check", None)
    if is_checked and check != checksum(entry):
        raise ValueError("it is not as it was written")
    call = entry.pop("call", "")
    (kind, amount), *more = entry.items()
    if more or not isinstance(call, str) or kind not in (("intent", "settled") if call else ("opening",)):
        raise ValueError(f"it tells {', '.join(sorted(entry))} of {call!r}")
    return call, kind, amount_of(amount)


def checksum(entry: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(entry).encode()).hexdigest()[:8]


def check(run: Path) -> None:
    """Raise UserError where the run's ledger, if it has one, cannot be believed; nothing is written."""
    account = Account(run / PLACE)
    refuse_shorter(account.path)
    if account.path.exists():
        for line in account.path.read_bytes().split(b"\n")[:-1]:  # a last one without its end was never acted upon
            account.take_in(line)


def expected(price: Decimal, dearest: Mapping[Decimal, Decimal]) -> Decimal:
    """The price of a call, or what the dearest answer at this price did cost, if that was more."""
    while price in dearest:
        price = dearest[price]
    return price


def amount_of(value: object) -> Decimal:
    """US dollars, exactly as they are written; raises ValueError for what is no amount of money."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is no amount of money")
    return Decimal(str(value))
