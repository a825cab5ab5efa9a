"""How a run is doing, read from its folder alone, while it runs or after: nothing is locked and nothing is written."""

import datetime
import json
import os
import re
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .files import LOCK
from .run_log import read_events, read_parts
from .store import Damaged, read_json, read_run

WINDOW = 3600.0  # seconds; the pace is that of the last hour
FRESH = 600.0  # seconds; a chain of another machine that wrote something since then is taken for running
SHOWN = 5  # slowest chains, most frequent reasons
NUMBERS = re.compile(r"[0-9a-f]{8,}|\d+")  # what makes two reasons differ that are one


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
    calls_done: int = 0  # or not needed any more, where a chain ended early
    spent: float = 0.0

    def add(self, chain: "ChainState") -> None:
        self.chains += 1
        self.calls += chain.calls
        self.calls_done += chain.calls if chain.status else chain.calls_done
        self.spent = round(self.spent + chain.spent, 6)
        if chain.status:
            self.done += 1
            self.ends[chain.status] = self.ends.get(chain.status, 0) + 1
        else:
            self.running += chain.state == "running"
            self.interrupted += chain.state == "interrupted"
            self.waiting += chain.state == "waiting"


@dataclass
class ChainState:
    """One chain as its folder shows it."""

    id: str
    editor: str = ""
    calls: int = 0  # planned
    calls_done: int = 0
    state: str = "waiting"  # waiting, running, interrupted, done
    status: str = ""  # how it ended
    reason: str = ""
    spent: float = 0.0
    quiet: float | None = None  # seconds since a chain that is not done wrote anything


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
    slowest: list[dict[str, Any]]  # finished chains, by seconds a call
    quiet: list[dict[str, Any]]  # running chains that wrote nothing for longest
    calls_a_second: float | None
    seconds_left: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def read_status(run: Path, now: float | None = None) -> Status:
    """All that the folder says; `now` is seconds since 1970."""
    now = time.time() if now is None else now
    advice = "give the folder that `generate --out` or `build --out` made"
    about = read_run(run, f"{run} holds neither a run nor a dataset; {advice}")
    parts = read_parts(run)
    events = {part: read_events(run, part) for part in parts}
    planned = {name: values for own in parts.values() for name, values in own.items()}
    hosts = {event["host"] for own in events.values() for event in own if event.get("event") == "started"}
    chains = {chain.id: chain for chain in read_chains(run, planned, hosts <= {socket.gethostname()}, now)}
    for name, (editor, calls) in planned.items():
        if name not in chains:
            chains[name] = ChainState(name, editor, calls)
    whole, editors = Progress(), defaultdict[str, Progress](Progress)
    for chain in chains.values():
        whole.add(chain)
        editors[chain.editor].add(chain)
    sizes = {int(part.partition("/")[2]) for part in parts}
    newest = {part: own for part, own in parts.items() if sizes and int(part.partition("/")[2]) == max(sizes)}
    shards = {part: Progress() for part in newest}
    for part, own in newest.items():
        for name in own:
            shards[part].add(chains[name])
    running = [chain for chain in chains.values() if chain.state == "running"]
    pace = calls_a_second(events, running, now)
    left = whole.calls - whole.calls_done
    return Status(
        str(run),
        str(about.get("suite", "")),
        str(about.get("suite_version", "")),
        whole,
        dict(sorted(editors.items())),
        shards,
        max(sizes, default=0) - len(newest),
        common_reasons(chains.values()),
        slowest(events),
        [
            {"chain": chain.id, "editor": chain.editor, "seconds": round(chain.quiet or 0.0, 1)}
            for chain in sorted(running, key=lambda chain: -(chain.quiet or 0.0))[:SHOWN]
        ],
        pace,
        left / pace if pace and running else 0.0 if not left else None,
    )


def read_chains(run: Path, planned: Mapping[str, list[Any]], is_here: bool, now: float) -> Iterator[ChainState]:
    """Every chain that has been begun; `is_here` says that all processes of the run are on this machine."""
    held = held_locks() if is_here else None
    with suppress(FileNotFoundError), os.scandir(run / "chains") as folders:
        for folder in folders:
            if folder.name.startswith(".") or not folder.is_dir():
                continue
            try:
                yield read_chain(folder, planned, held, now)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                advice = "`convergebench verify` says what is broken"
                raise Damaged(f"{folder.path} cannot be read ({error}); {advice}") from error


def read_chain(
    folder: "os.DirEntry[str]", planned: Mapping[str, list[Any]], held: set[int] | None, now: float
) -> ChainState:
    """One chain, from the mark that it is done, or else from its steps."""
    chain = ChainState(folder.name)
    chain.editor, chain.calls = planned[folder.name] if folder.name in planned else described(folder.path)
    try:
        with open(f"{folder.path}/done.json", "rb") as file:  # noqa: PTH123 - twenty thousand of them
            done = json.loads(file.read())
    except FileNotFoundError:
        read_steps(folder.path, chain)
        look_for_life(folder.path, chain, held, now)
        return chain
    chain.state, chain.status, chain.calls_done = "done", str(done["status"]), int(done["steps"])
    chain.reason = str(done.get("reason") or "")
    if "cost" in done:
        chain.spent = float(done["cost"] or 0)
    else:
        read_steps(folder.path, chain)
    return chain


def described(folder: str) -> tuple[str, int]:
    """The editor and the planned calls of a chain that no log names."""
    values = read_json(Path(folder) / "chain.json", " ")
    return str(values["editor"]), int(values["rounds"]) * len(values["program"]["cycle"])


def read_steps(folder: str, chain: ChainState) -> None:
    """Calls and cost from the steps themselves, those that were asked again included."""
    for name in ("steps.jsonl", ".retried.jsonl"):
        with suppress(FileNotFoundError):
            for line in Path(folder, name).read_bytes().split(b"\n")[:-1]:
                with suppress(ValueError):
                    step = json.loads(line)
                    chain.spent += float(step.get("cost") or 0)
                    if name == "steps.jsonl":
                        chain.calls_done = int(step.get("step", 0))
                        chain.reason = str(step.get("reason") or "")


def look_for_life(folder: str, chain: ChainState, held: set[int] | None, now: float) -> None:
    """Whether a process is at a chain that is not done, and since when it has written nothing."""
    touched = [Path(folder, name).stat().st_mtime for name in ("steps.jsonl", LOCK) if Path(folder, name).exists()]
    chain.quiet = max(now - max(touched), 0.0) if touched else None
    chain.state = "interrupted"
    with suppress(FileNotFoundError):
        lock = Path(folder, LOCK).stat().st_ino
        if lock in held if held is not None else (chain.quiet or 0.0) < FRESH:
            chain.state = "running"


def held_locks() -> set[int] | None:
    """The inodes of all files that a process of this machine has locked; None where the system does not say.

    To try a lock would be to take it for a moment, and who wants it then would leave the chain alone.
    """
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return {int(line.split()[5].rpartition(":")[2]) for line in lines if "->" not in line}


def common_reasons(chains: Iterable[ChainState]) -> dict[str, dict[str, int]]:
    """Why chains ended early, by end; reasons that differ by a number or an id alone are one."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for chain in chains:
        if chain.status not in ("", "complete"):
            found[chain.status][NUMBERS.sub("#", chain.reason)[:200] or "no reason given"] += 1
    return {status: dict(counts.most_common(SHOWN)) for status, counts in sorted(found.items())}


def slowest(events: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The finished chains that took longest for a call."""
    ended = [event for own in events.values() for event in own if event["event"] == "chain_ended" and event["calls"]]
    ended.sort(key=lambda event: -event["seconds"] / event["calls"])
    return [
        {"chain": each["chain"], "editor": each["editor"], "seconds_a_call": round(each["seconds"] / each["calls"], 3)}
        for each in ended[:SHOWN]
    ]


def calls_a_second(events: Mapping[str, list[dict[str, Any]]], running: list[ChainState], now: float) -> float | None:
    """The pace of the last hour, of all parts together; None where nothing is running."""
    if not running:
        return None
    starts = [
        max((seconds(each) for each in own if each["event"] == "started"), default=now) for own in events.values()
    ]
    since = max(min(starts, default=now), now - WINDOW)
    calls = sum(
        event["calls"]
        for own in events.values()
        for event in own
        if event["event"] == "chain_ended" and seconds(event) >= since
    ) + sum(chain.calls_done for chain in running)
    return calls / max(now - since, 0.001)


def seconds(event: Mapping[str, Any]) -> float:
    """When it happened, in seconds since 1970."""
    return datetime.datetime.fromisoformat(event["at"]).timestamp()
