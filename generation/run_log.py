"""What the processes of a run were given to do and what came of it when, for whoever looks at the run meanwhile.

RUN/log/0-of-1.json    the chains of one part of the run, {id: [editor, calls]}, written when a process takes it up
RUN/log/0-of-1.jsonl   its events as lines of JSON, each with its time in UTC:

{"at": "...", "event": "started", "host": "...", "pid": 7, "part": "0/1", "chains": 20, "calls": 400, "all_chains": 20}
{"at": "...", "event": "step", "chain": "...", "step": 7, "status": "refused", "reason": "..."}     those not ok
{"at": "...", "event": "chain_ended", "chain": "...", "editor": "...", "status": "complete", "calls": 9, "seconds": 9}
{"at": "...", "event": "left", "chain": "...", "reason": "..."}
{"at": "...", "event": "ended", "stopped": null, "spent": 0.8}

Nothing is decided by these files: which chain is done, and how, its own folder says. `status.py` reads both.
"""

import datetime
import json
import os
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .files import disk_errors_explained, locked, remove_unfinished
from .records import Chain, Step, UserError, canonical
from .store import read_json, write_json

FOLDER = "log"
Follow = Callable[[Mapping[str, Any]], None]  # called with each event, by whichever thread met it


class RunLog:
    """The log of one process, which runs one part of so many."""

    def __init__(self, run: Path, part: tuple[int, int] = (0, 1), follow: Iterable[Follow] = ()):
        self.folder, self.part, self.followers = run / FOLDER, part, tuple(follow)
        self.tallies: dict[str, list[float]] = {}  # chain id to calls and US dollars, in this process
        self.writing = threading.Lock()

    @property
    def name(self) -> str:
        return f"{self.part[0]}-of-{self.part[1]}"

    def start(self, mine: Sequence[Chain], every: Sequence[Chain]) -> None:
        """Say what this process is to do; what was given before under the same part stays."""
        with disk_errors_explained(self.folder), locked(self.folder, wait=True):
            remove_unfinished(self.folder)
            path = self.folder / f"{self.name}.json"
            before = read_json(path) if path.exists() else {}
            write_json(path, before | {chain.id: [chain.editor, calls_of(chain)] for chain in mine})
        self.event(
            "started",
            host=socket.gethostname(),
            pid=os.getpid(),
            part=f"{self.part[0]}/{self.part[1]}",
            chains=len(mine),
            calls=sum(map(calls_of, mine)),
            all_chains=len(every),
        )

    def step(self, chain: Chain, step: Step) -> None:
        """Count a step; one that is not ok is an event."""
        tally = self.tallies.setdefault(chain.id, [0, 0.0])
        tally[0] += 1
        tally[1] += step.cost or 0.0
        if step.status != "ok":
            about = {"editor": chain.editor, "step": step.step, "status": step.status, "reason": step.reason}
            self.event("step", chain=chain.id, **about)

    def chain_ended(self, chain: Chain, status: str, seconds: float) -> None:
        calls, cost = self.tallies.pop(chain.id, [0, 0.0])
        about = {"editor": chain.editor, "status": status, "calls": int(calls), "seconds": round(seconds, 3)}
        self.event("chain_ended", chain=chain.id, **about, **({"cost": round(cost, 6)} if cost else {}))

    def event(self, kind: str, **about: Any) -> None:
        """Add a line. It is flushed, not synced: a power cut may take the last ones, and nothing depends on them."""
        at = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        found = {"at": at, "event": kind, **about}
        with self.writing, disk_errors_explained(self.folder):
            with (self.folder / f"{self.name}.jsonl").open("ab", buffering=0) as file:
                file.write((canonical(found) + "\n").encode())
            for follow in self.followers:
                follow(found)


def calls_of(chain: Chain) -> int:
    return chain.rounds * len(chain.program.cycle)


def read_parts(run: Path) -> dict[str, dict[str, list[Any]]]:
    """What each part of the run was given: {"0/4": {chain id: [editor, calls]}}."""
    found = {}
    for path in sorted((run / FOLDER).glob("*-of-*.json")):
        found[path.stem.replace("-of-", "/")] = read_json(path)
    return found


def read_events(run: Path, part: str) -> list[dict[str, Any]]:
    """The events of one part, in their order; lines that a crash cut short are left out."""
    path = run / FOLDER / f"{part.replace('/', '-of-')}.jsonl"
    found = []
    for line in path.read_bytes().split(b"\n") if path.exists() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def track(project: str, run: str) -> Follow:
    """A follower that draws a run's progress with trackio, which lies on this machine or in a Space."""
    try:
        import trackio
    except ModuleNotFoundError as error:
        raise UserError("trackio is not installed: pip install trackio") from error
    drawn = trackio.init(project=project, name=run)  # trackio.log would know it in this thread alone
    done = {"chains_done": 0, "calls_done": 0, "spent": 0.0}

    def follow(event: Mapping[str, Any]) -> None:
        if event["event"] == "chain_ended":
            done["chains_done"] += 1
            done["calls_done"] += event["calls"]
            done["spent"] += event.get("cost", 0.0)
            pace = event["seconds"] / event["calls"] if event["calls"] else 0.0
            drawn.log({**done, f"ended_{event['status']}": 1, "seconds_a_call": pace})
        elif event["event"] == "ended":
            drawn.finish()

    return follow
