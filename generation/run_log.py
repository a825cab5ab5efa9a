"""The log of a run's processes: RUN/log/0-of-1.jsonl has the events of part 0 of 1, as lines of JSON.

{"at": "...", "event": "started", "host": "...", "pid": 7, "planned": {"CHAIN": ["EDITOR", CALLS], ...}}
{"at": "...", "event": "chain_ended", "chain": "...", "editor": "...", "status": "complete", "calls": 9, "seconds": 9}
{"at": "...", "event": "left", "chain": "...", "reason": "..."}
{"at": "...", "event": "ended", "stopped": null, "spent": 0.8}

No decision depends on these files: a chain's own folder says whether it is done. `status.py` reads both.
"""

import datetime
import json
import os
import socket
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .files import disk_errors_explained
from .records import Chain, canonical

FOLDER = "log"
Event = Mapping[str, Any]  # as in the lines above


class RunLog:
    """The log of one process, which runs one part of the plan."""

    def __init__(self, run: Path, part: tuple[int, int] = (0, 1)):
        self._path = run / FOLDER / f"{part[0]}-of-{part[1]}.jsonl"
        self._calls: Counter[str] = Counter()  # by chain, in this process
        self._writing = threading.Lock()

    def start(self, chains: Sequence[Chain]) -> None:
        """Log the chains that this process plans to run."""
        planned = {chain.id: [chain.editor, chain.calls] for chain in chains}
        self.event("started", host=socket.gethostname(), pid=os.getpid(), planned=planned)

    def count_call(self, chain: Chain) -> None:
        self._calls[chain.id] += 1

    def chain_ended(self, chain: Chain, status: str, seconds: float) -> None:
        ending = {"status": status, "calls": self._calls.pop(chain.id, 0), "seconds": round(seconds, 3)}
        self.event("chain_ended", chain=chain.id, editor=chain.editor, **ending)

    def event(self, kind: str, **fields: Any) -> None:
        """Add a line. It is flushed, not synced: a power cut may take the last ones, and nothing depends on them."""
        at = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        event = {"at": at, "event": kind, **fields}
        with self._writing, disk_errors_explained(self._path.parent):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab", buffering=0) as file:
                file.write((canonical(event) + "\n").encode())


def read_events(run: Path) -> dict[str, list[Event]]:
    """The events of every part, such as "0/4", in order; lines that a crash cut short are skipped."""
    events: dict[str, list[Event]] = {}
    for path in sorted((run / FOLDER).glob("*-of-*.jsonl")):
        part = events.setdefault(path.stem.replace("-of-", "/"), [])
        for line in path.read_bytes().split(b"\n"):
            with suppress(ValueError):
                part.append(json.loads(line))
    return events
