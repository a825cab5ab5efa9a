"""How a run is doing, read from its folder alone, while it runs or after: nothing is locked and nothing is written."""

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

_WINDOW = 3600.0  # seconds; the pace is that of the last hour
_FRESH = 600.0  # seconds; a chain of another machine that wrote something since then is taken for running
_SHOWN = 5  # most frequent reasons, chains without an answer for longest
_NUMBERS = re.compile(r"[0-9a-f]{8,}|\d+")  # ids and counts, by which two equal reasons may differ
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
    """How far a part of the run is: chains by what became of them, calls, and US dollars."""

    chains: int = 0
    done: int = 0
    ends: dict[str, int] = field(default_factory=dict)
    running: int = 0
    interrupted: int = 0  # begun, and no process is at it
    waiting: int = 0  # not begun
    calls: int = 0
    calls_done: int = 0  # or not needed any more, because a chain ended early
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
    shards_unseen: int  # parts that no process has taken up yet
    reasons: dict[str, dict[str, int]]  # by end: why, how often
    quiet: list[dict[str, Any]]  # running chains that wrote nothing for longest
    calls_a_second: float | None
    seconds_left: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def read_status(run: Path, now: float | None = None) -> Status:
    """All that the folder says; `now` is seconds since 1970."""
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
    shards = {part: members for part, members in parts.items() if part.endswith(f"/{size}")}  # of the newest deal
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
    """Every chain that is planned or begun, by its id."""
    planned = {chain: plan for part in parts.values() for chain, plan in part.items()}
    hosts = {event["host"] for part in events.values() for event in part if event["event"] == "started"}
    held = _held_locks() if hosts <= {socket.gethostname()} else None
    chains = {chain: _ChainState(chain, *plan) for chain, plan in planned.items()}
    with suppress(FileNotFoundError), os.scandir(run / "chains") as folders:
        for folder in folders:
            if folder.name.startswith(".") or not folder.is_dir():
                continue
            try:
                chains[folder.name] = _read_chain(folder.path, planned.get(folder.name), held, now)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                advice = "`convergebench verify` says what is broken"
                raise Damaged(f"{folder.path} cannot be read ({error}); {advice}") from error
    return chains


def _planned(events: Sequence[Event]) -> _Planned:
    """What one part of the run was given to do, by all processes that took it up."""
    starts = [event["planned"] for event in events if event["event"] == "started"]
    return {chain: (str(editor), int(calls)) for start in starts for chain, (editor, calls) in start.items()}


def _read_chain(folder: str, plan: tuple[str, int] | None, held: set[int] | None, now: float) -> _ChainState:
    """One chain, from the mark that it is done, or else from its steps."""
    if plan is None:
        values = read_json(Path(folder) / "chain.json", " ")
        plan = str(values["editor"]), int(values["rounds"]) * len(values["program"]["cycle"])
    chain = _ChainState(os.path.basename(folder), *plan)  # noqa: PTH119 - twenty thousand of them
    try:
        with open(f"{folder}/done.json", "rb") as file:  # noqa: PTH123
            done = json.loads(file.read())
    except FileNotFoundError:
        _read_steps(Path(folder), chain)
        _look_for_life(Path(folder), chain, held, now)
        return chain
    chain.state, chain.status, chain.calls_done = "done", str(done["status"]), int(done["steps"])
    chain.reason, chain.spent = str(done["reason"] or ""), float(done["cost"])
    return chain


def _read_steps(folder: Path, chain: _ChainState) -> None:
    """Calls and cost from the steps themselves, those that were asked again included."""
    for name in ("steps.jsonl", ".retried.jsonl"):
        with suppress(FileNotFoundError):
            for line in (folder / name).read_bytes().split(b"\n")[:-1]:
                with suppress(ValueError):
                    step = json.loads(line)
                    chain.spent += float(step.get("cost") or 0)
                    if name == "steps.jsonl":
                        chain.calls_done = int(step.get("step", 0))
                        chain.reason = str(step.get("reason") or "")


def _look_for_life(folder: Path, chain: _ChainState, held: set[int] | None, now: float) -> None:
    """Whether a process is at a chain that is not done, and since when it has written nothing."""
    times = [(folder / name).stat().st_mtime for name in ("steps.jsonl", LOCK) if (folder / name).exists()]
    chain.quiet = max(now - max(times), 0.0) if times else 0.0
    chain.state = "interrupted"
    with suppress(FileNotFoundError):
        lock = (folder / LOCK).stat().st_ino
        if lock in held if held is not None else chain.quiet < _FRESH:
            chain.state = "running"


def _held_locks() -> set[int] | None:
    """The inodes of all files that a process of this machine has locked; None if the system does not say.

    To try a lock would be to take it for a moment, and a process that wants it then would leave the chain alone.
    """
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return {int(line.split()[5].rpartition(":")[2]) for line in lines if "->" not in line}


def _common_reasons(chains: Iterable[_ChainState]) -> dict[str, dict[str, int]]:
    """Why chains ended early, by end; reasons that differ by a number or an id alone are one."""
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for chain in chains:
        if chain.status not in ("", "complete"):
            reasons[chain.status][_NUMBERS.sub("#", chain.reason)[:200] or "no reason given"] += 1
    return {status: dict(counts.most_common(_SHOWN)) for status, counts in sorted(reasons.items())}


def _calls_a_second(events: Mapping[str, Sequence[Event]], running: Sequence[_ChainState], now: float) -> float:
    """The pace of the last hour, of all parts together."""
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
