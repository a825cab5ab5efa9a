"""What a run has cost, in a file that all its processes share, so that a limit on money holds for all of them together.

RUN/ledger/calls.jsonl has a line of JSON for each event, only ever appended to, under one lock, and durable before the
next thing happens:

{"opening": 0.12}                    what the run's steps had cost when the ledger was begun
{"call": "K7-0", "intent": 0.04}     written before a call is made: the most that it is expected to cost
{"call": "K7-0", "settled": 0.039}   written after it: what it did cost

A call without a settled line was in flight when its process died. The vendor may have billed it, so it counts as spent
until somebody has looked at the bill and added the settled line by hand.
"""

import contextlib
import json
import math
import os
import secrets
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from .files import disk_errors_explained, locked
from .records import UserError, canonical


class Ledger:
    """The ledger of one run, as one process sees it: what the others have spent, and its own lines added."""

    def __init__(self, run: Path, opening: float = 0.0):
        self.folder = run / "ledger"
        self.path = self.folder / "calls.jsonl"
        self.name = secrets.token_hex(4)
        self.calls = 0
        self.read_to = 0  # bytes
        self.lines = 0
        self.settled = Decimal(0)  # by the others, and by processes before this one
        self.unsettled: dict[str, Decimal] = {}  # theirs
        self.dearest: dict[Decimal, Decimal] = {}  # by what a call was to cost: the most that one did cost, if more
        with self.turn():
            if self.read_to == 0:
                self.append({"opening": opening})
                self.settled = amount_of(opening)

    @property
    def spent(self) -> Decimal:
        """All that was spent, or may have been, by others than this process; as of the last turn."""
        return self.settled + sum(self.unsettled.values(), Decimal(0))

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Nobody else writes while the block runs, and what they wrote before is known."""
        with disk_errors_explained(self.folder), locked(self.folder, wait=True):
            self.read_others()
            yield

    def read_others(self) -> None:
        """Read the lines that were added since the last turn; a last one without its end was never acted upon."""
        with self.path.open("a+b") as file:
            if file.tell() < self.read_to:
                raise UserError(f"{self.path} was made shorter while the run goes on; restore it")
            file.seek(self.read_to)
            data = file.read()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):  # its writer died while it wrote, or it would hold the lock
                file.truncate(self.read_to + whole)
        for line in data[:whole].splitlines():
            self.lines += 1
            self.take_in(line)
        self.read_to += whole

    def take_in(self, line: bytes) -> None:
        """Count one line of the others."""
        try:
            entry = json.loads(line)
            call = str(entry["call"]) if "call" in entry else None
            if "intent" in entry:
                self.unsettled[str(call)] = amount_of(entry["intent"])
            else:
                amount = amount_of(entry["opening" if call is None else "settled"])
                self.settled += amount
                intended = self.unsettled.pop(str(call), amount)
                if intended and amount > intended:
                    self.dearest[intended] = max(amount, self.dearest.get(intended, amount))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise UserError(
                f"{self.path}, line {self.lines}, is no entry of a ledger ({error}); restore the file, "
                "or remove it to count what the run's steps say they cost"
            ) from error

    def intend(self, amount: Decimal) -> str:
        """Write, in this process's turn, that a call is about to be made; gives it a name."""
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
        line = (canonical(entry) + "\n").encode()
        with self.path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self.read_to += len(line)
        self.lines += 1


def amount_of(value: object) -> Decimal:
    """US dollars, exactly as they are written; raises ValueError for what is no amount of money."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is no amount of money")
    return Decimal(str(value))
