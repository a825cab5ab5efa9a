"""The budget of a run, with a ledger that all its processes share, so that one limit holds for all together.

RUN/ledger/calls.jsonl has a line of JSON for each event, only ever
appended to, under one lock, and durable before the next thing happens:

{"check": "...", "opening": 0.12}                    what the run's steps had cost when the ledger was begun
{"call": "5f..", "check": "...", "intent": 0.04}     written before a call: its expected cost
{"call": "5f..", "check": "...", "settled": 0.039}   written after it: its actual cost

A call without a settled line was in flight when its process died. The vendor may have billed it, so it
counts as spent until a person checks the bill and adds the settled line by hand, which needs no checksum.
"""

import contextlib
import hashlib
import json
import math
import os
import secrets
import shutil
import threading
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from .files import disk_errors_explained, locked
from .records import UserError, canonical

PLACE = "ledger/calls.jsonl"
SIZE = "size"  # next to it: its size in bytes, to detect lines lost from its end
_ROOM = 64_000_000  # bytes that must be free before a paid call, so that its answer can be stored
_Hold = tuple[Decimal, str | None]  # money set aside for a call in flight, and the name of the call in the ledger


class Budget:
    """The limit, the money spent, and the money held for calls in flight, in US dollars.

    In the folder of a run it reads the lines of other processes and appends those of this one.
    What this process pays and holds is counted apart from them, and alone if there is no folder.
    """

    def __init__(
        self, limit: float | None = None, run: Path | None = None, opening: float = 0.0, check_only: bool = False
    ):
        self.limit = Decimal("Infinity" if limit is None else str(limit))
        self.paid = Decimal(0)  # by this process
        self.unsettled: dict[str, Decimal] = {}  # the calls of other processes, by their names in the ledger
        self.settled = Decimal(0)  # by other processes
        self.thread = threading.local()  # its `call` is the name in the ledger of the call that this thread makes
        self._in_flight: list[Decimal] = []  # the expected cost of each call when it started
        self._dearest: dict[Decimal, Decimal] = {}  # by expected cost: the highest actual cost, if higher
        self._changed = threading.Condition()
        self._has_ledger = run is not None
        self.path = (run or Path()) / PLACE
        self._advice = f"restore it, or remove {self.path.parent} to count what the run's steps say they cost"
        self._lines = 0
        self._read_to = 0  # bytes
        if check_only:
            self._refuse_shorter()
            if self.path.exists():
                self._read(self.path.read_bytes())
        elif self._has_ledger:
            with self.turn():
                if self._read_to == 0:
                    self._append("opening", _amount(opening))
                    self.settled = _amount(opening)

    @property
    def spent(self) -> float:
        with self._changed:
            return float(self._spent_by_all())

    def _spent_by_all(self) -> Decimal:
        return self.paid + self.settled + self._expected(*self.unsettled.values())

    @property
    def held(self) -> Decimal:
        return self._expected(*self._in_flight)

    def _expected(self, *prices: Decimal) -> Decimal:
        total = Decimal(0)
        for price in prices:
            while price in self._dearest:
                price = self._dearest[price]
            total += price
        return total

    def _raise_expected(self, price: Decimal, cost: Decimal) -> None:
        if price and cost > price:
            self._dearest[price] = max(cost, self._dearest.get(price, cost))

    def hold(self, price: float) -> _Hold:
        """Reserve the price of a call; waits while calls in flight may still leave room for it."""
        with self._changed:
            while True:
                is_recorded = self._has_ledger and price
                with self.turn() if is_recorded else contextlib.nullcontext():
                    spent, amount = self._spent_by_all(), self._expected(Decimal(str(price)))
                    if spent + self.held + amount <= self.limit:
                        call = self.thread.call = self.intend(amount) if is_recorded else None
                        self._in_flight.append(amount)
                        return amount, call
                if spent + amount > self.limit or not self.held:
                    call_at = f"a call at ${amount} would pass the limit of ${self.limit}"
                    raise UserError(f"${spent} is spent, so {call_at}")
                self._changed.wait()

    def pay(self, hold: _Hold, cost: float) -> None:
        (amount, call), paid = hold, Decimal(str(cost))
        with self._changed:
            self._in_flight.remove(amount)
            self.paid += paid
            self._raise_expected(amount, paid)
            self._changed.notify_all()
            if self._has_ledger and (call or paid):
                with self.turn():
                    self.settle(call, paid)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Lock the ledger while the block runs, after reading what other processes have written."""
        with disk_errors_explained(self.path.parent), locked(self.path.parent, wait=True):
            self._refuse_shorter()
            with self.path.open("a+b") as file:
                file.seek(self._read_to)
                data = file.read()
                whole = data.rfind(b"\n") + 1
                if whole < len(data):  # its writer died while writing, or it would hold the lock
                    file.truncate(self._read_to + whole)
            self._read(data[:whole])
            self._read_to += whole
            yield

    def intend(self, amount: Decimal) -> str:
        """Record, in this process's turn, that a call is about to be made; returns its name."""
        if (free := shutil.disk_usage(self.path.parent).free) < _ROOM:
            advice = "free some space and give the same command again"
            raise UserError(f"only {free // 1_000_000} MB are free for answers, so no call is paid for; {advice}")
        return self._append("intent", amount, secrets.token_hex(8))

    def settle(self, call: str | None, cost: Decimal) -> None:
        self._append("settled", cost, call or secrets.token_hex(8))

    def _append(self, kind: str, amount: Decimal, call: str = "") -> str:
        entry = {"call": call, kind: float(amount)} if call else {kind: float(amount)}
        line = (canonical({**entry, "check": _checksum(entry)}) + "\n").encode()
        with self.path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._read_to += len(line)
        # Not synced: after a power cut it may hold a smaller size, which does no harm.
        (self.path.parent / SIZE).write_text(f"{self._read_to:020}\n")
        self._lines += 1
        return call

    def _read(self, data: bytes) -> None:
        """Count the whole lines; an incomplete last one was never acted upon."""
        for line in data.split(b"\n")[:-1]:
            self._lines += 1
            try:
                call, kind, amount = _parse(line)
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                problem = f"{self.path}, line {self._lines}, is not an entry of a ledger ({error})"
                raise UserError(f"{problem}; {self._advice}") from error
            if kind == "intent":
                self.unsettled[call] = amount
            else:
                self.settled += amount
                self._raise_expected(self.unsettled.pop(call, amount), amount)

    def _refuse_shorter(self) -> None:
        """Raise UserError if lines are missing from the end, because they record spending."""
        least = self._read_to
        with contextlib.suppress(OSError, ValueError):
            least = max(least, int((self.path.parent / SIZE).read_bytes()))
        size = self.path.stat().st_size if self.path.exists() else 0
        if size < least:
            problem = f"{self.path} has {size} bytes and had {least}, so calls that were paid for are not in it"
            raise UserError(f"{problem}; {self._advice}")


def _parse(line: bytes) -> tuple[str, str, Decimal]:
    entry = json.loads(line)
    is_checked, check = "check" in entry, entry.pop("check", None)
    if is_checked and check != _checksum(entry):
        raise ValueError("it is damaged")
    call = entry.pop("call", "")
    (kind, amount), *others = entry.items()
    if others or not isinstance(call, str) or kind not in (("intent", "settled") if call else ("opening",)):
        raise ValueError(f"it has {', '.join(sorted(entry))} of {call!r}")
    return call, kind, _amount(amount)


def _checksum(entry: Mapping[str, object]) -> str:
    return hashlib.sha256(canonical(entry).encode()).hexdigest()[:8]


def _amount(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is not an amount of money")
    return Decimal(str(value))
