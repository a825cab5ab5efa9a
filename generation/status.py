"""The status of a run, read from its folder during or after the run; locks and writes nothing."""

import datetime
import json
import os
import re
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from .files import LOCK
from .run_log import Event, read_events
from .store import Damaged, read_json, read_run

_WINDOW = 3600.0  # seconds over which the pace is measured
_FRESH = 600.0  # seconds; a chain on another machine counts as running if it wrote something since
_SHOWN = 5  # how many reasons and quiet chains are listed
_NUMBERS = re.compile(r"[0-9a-f]{8,}|\d+")  # ids and counts, which are ignored when reasons are compared
_Planned = Mapping[str, tuple[str, int]]  # by chain: its editor and its calls


@dataclass
class _ChainState:
    """One chain as its folder shows it."""

    id: str
    editor: str
    calls: int  # planned
    calls_done: int = 0
    state: str = "waiting"  # waiting, running, interrupted, done
    status: str = ""  # how it ended
    reason: str = ""
    spent: float = 0.0
    quiet: float = 0.0  # seconds since a chain that is not done wrote anything


@dataclass
class Progress:
    """The progress of a part of the run: chains by state, calls, and US dollars."""

    chains: int = 0
    done: int = 0
    ends: dict[str, int] = field(default_factory=dict)
    running: int = 0
    interrupted: int = 0  # begun, but no process is running it
    waiting: int = 0  # not begun
    calls: int = 0
    calls_done: int = 0  # or no longer needed, because a chain ended early
    spent: float = 0.0

    @classmethod
    def of(cls, chains: Iterable[_ChainState]) -> Self:
        chains = list(chains)
        states = Counter(chain.state for chain in chains)
        return cls(
            chains=len(chains),
            done=states["done"],
            ends=dict(Counter(chain.status for chain in chains if chain.status)),
            running=states["running"],
            interrupted=states["interrupted"],
            waiting=states["waiting"],
            calls=sum(chain.calls for chain in chains),
            calls_done=sum(chain.calls if chain.status else chain.calls_done for chain in chains),
            spent=round(sum(chain.spent for chain in chains), 6),
        )


@dataclass
class Status:
    """The whole run."""

    run: str
    suite: str
    suite_version: str
    whole: Progress
    editors: dict[str, Progress]
    shards: dict[str, Progress]
    shards_unseen: int  # parts that no process has started yet
    reasons: dict[str, dict[str, int]]  # by end: why, how often
    quiet: list[dict[str, Any]]  # the running chains that wrote nothing for the longest time
    calls_a_second: float | None
    seconds_left: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def read_status(run: Path, now: float | None = None) -> Status:
    """The status of the run in a folder; `now` is seconds since 1970."""
    now = time.time() if now is None else now
    advice = "give the folder that `generate --out` or `build --out` made"
    description = read_run(run, f"{run} holds neither a run nor a dataset; {advice}")
    events = read_events(run)
    parts = {part: _planned(part_events) for part, part_events in events.items()}
    chains = _read_chains(run, events, parts, now)
    editors: dict[str, list[_ChainState]] = defaultdict(list)
    for chain in chains.values():
        editors[chain.editor].append(chain)
    size = max((int(part.partition("/")[2]) for part in parts), default=0)
    shards = {part: members for part, members in parts.items() if part.endswith(f"/{size}")}  # of the newest split
    whole = Progress.of(chains.values())
    running = sorted((chain for chain in chains.values() if chain.state == "running"), key=lambda chain: -chain.quiet)
    pace = _calls_a_second(events, running, now) if running else None
    calls_left = whole.calls - whole.calls_done
    return Status(
        run=str(run),
        suite=str(description.get("suite", "")),
        suite_version=str(description.get("suite_version", "")),
        whole=whole,
        editors={editor: Progress.of(members) for editor, members in sorted(editors.items())},
        shards={part: Progress.of(chains[chain] for chain in members) for part, members in shards.items()},
        shards_unseen=size - len(shards),
        reasons=_common_reasons(chains.values()),
        quiet=[
            {"chain": chain.id, "editor": chain.editor, "seconds": round(chain.quiet, 1)} for chain in running[:_SHOWN]
        ],
        calls_a_second=pace,
        seconds_left=calls_left / pace if pace else 0.0 if not calls_left else None,
    )


def _read_chains(
    run: Path, events: Mapping[str, Sequence[Event]], parts: Mapping[str, _Planned], now: float
) -> dict[str, _ChainState]:
    """Every planned or begun chain, by its id."""
    planned = {chain: plan for part in parts.values() for chain, plan in part.items()}
    hosts = {event["host"] for part in events.values() for event in part if event["event"] == "started"}
    held_locks = _held_locks() if hosts <= {socket.gethostname()} else None
    chains = {chain: _ChainState(chain, *plan) for chain, plan in planned.items()}
    with suppress(FileNotFoundError), os.scandir(run / "chains") as folders:
        for folder in folders:
            if folder.name.startswith(".") or not folder.is_dir():
                continue
            try:
                chains[folder.name] = _read_chain(folder.path, planned.get(folder.name), held_locks, now)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                advice = "`convergebench verify` says what is broken"
                raise Damaged(f"{folder.path} cannot be read ({error}); {advice}") from error
    return chains


def _planned(events: Sequence[Event]) -> _Planned:
    """The chains of one part of the run, according to all processes that started it."""
    starts = [event["planned"] for event in events if event["event"] == "started"]
    return {chain: (str(editor), int(calls)) for start in starts for chain, (editor, calls) in start.items()}


def _read_chain(folder: str, plan: tuple[str, int] | None, held_locks: set[int] | None, now: float) -> _ChainState:
    """One chain, from its done.json or else from its steps."""
    if plan is None:
        values = read_json(Path(folder) / "chain.json", " ")
        plan = str(values["editor"]), int(values["rounds"]) * len(values["program"]["cycle"])
    chain = _ChainState(os.path.basename(folder), *plan)  # noqa: PTH119 - twenty thousand of them
    try:
        with open(f"{folder}/done.json", "rb") as file:  # noqa: PTH123
            done = json.loads(file.read())
    except FileNotFoundError:
        _read_steps(Path(folder), chain)
        _set_activity(Path(folder), chain, held_locks, now)
        return chain
    chain.state, chain.status, chain.calls_done = "done", str(done["status"]), int(done["steps"])
    chain.reason, chain.spent = str(done["reason"] or ""), float(done["cost"])
    return chain


def _read_steps(folder: Path, chain: _ChainState) -> None:
    """Set a chain's calls, cost and reason from its steps, including retried ones."""
    for name in ("steps.jsonl", ".retried.jsonl"):
        with suppress(FileNotFoundError):
            for line in (folder / name).read_bytes().split(b"\n")[:-1]:
                with suppress(ValueError):
                    step = json.loads(line)
                    chain.spent += float(step.get("cost") or 0)
                    if name == "steps.jsonl":
                        chain.calls_done = int(step.get("step", 0))
                        chain.reason = str(step.get("reason") or "")


def _set_activity(folder: Path, chain: _ChainState, held_locks: set[int] | None, now: float) -> None:
    """Set whether an unfinished chain is running or interrupted, and how long it has been quiet."""
    times = [(folder / name).stat().st_mtime for name in ("steps.jsonl", LOCK) if (folder / name).exists()]
    chain.quiet = max(now - max(times), 0.0) if times else 0.0
    chain.state = "interrupted"
    with suppress(FileNotFoundError):
        lock = (folder / LOCK).stat().st_ino
        if lock in held_locks if held_locks is not None else chain.quiet < _FRESH:
            chain.state = "running"


def _held_locks() -> set[int] | None:
    """The inodes of all files that a process of this machine has locked; None if the system does not say.

    Testing a lock means taking it for a moment, and a process that wants it then would skip the chain.
    """
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return {int(line.split()[5].rpartition(":")[2]) for line in lines if "->" not in line}


def _common_reasons(chains: Iterable[_ChainState]) -> dict[str, dict[str, int]]:
    """The most frequent reasons why chains ended early, by end; numbers and ids in them are ignored."""
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for chain in chains:
        if chain.status not in ("", "complete"):
            reasons[chain.status][_NUMBERS.sub("#", chain.reason)[:200] or "no reason given"] += 1
    return {status: dict(counts.most_common(_SHOWN)) for status, counts in sorted(reasons.items())}


def _calls_a_second(events: Mapping[str, Sequence[Event]], running: Sequence[_ChainState], now: float) -> float:
    """The pace of all parts together in the last hour."""
    starts = [
        max((_seconds(event) for event in part if event["event"] == "started"), default=now) for part in events.values()
    ]
    since = max(min(starts, default=now), now - _WINDOW)
    ends = [event for part in events.values() for event in part if event["event"] == "chain_ended"]
    calls = sum(end["calls"] for end in ends if _seconds(end) >= since)
    return (calls + sum(chain.calls_done for chain in running)) / max(now - since, 0.001)


def _seconds(event: Event) -> float:
    """When it happened, in seconds since 1970."""
    return datetime.datetime.fromisoformat(event["at"]).timestamp()
