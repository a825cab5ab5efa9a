"""The status of a run, read from its folder during or after the run; locks and writes nothing."""

import json
import os
import re
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .files import LOCK
from .store import PLAN, Damaged, cost_of_folder, read_checked, read_json, read_run

_WINDOW = 3600.0  # seconds over which the pace is measured
_FRESH = 600.0  # seconds; a chain on another machine counts as running if it wrote something since
_SHOWN = 5  # how many reasons are listed
_NUMBERS = re.compile(r"[0-9a-f]{8,}|\d+")  # ids and counts, which are ignored when reasons are compared


@dataclass
class Progress:
    """The progress of a part of the run: chains by state, calls, and US dollars."""

    chains: int = 0
    done: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    running: int = 0
    interrupted: int = 0  # begun, but no process is running it
    waiting: int = 0  # not begun
    calls: int = 0
    calls_done: int = 0  # or no longer needed, because a chain ended early
    spent: float = 0.0


@dataclass
class Status:
    """The whole run."""

    run: str
    suite: str
    suite_version: str
    whole: Progress
    editors: dict[str, Progress]
    reasons: dict[str, dict[str, int]]  # by end: why, how often
    calls_a_second: float | None
    seconds_left: float | None


def read_status(run: Path) -> Status:
    now = time.time()
    advice = "give the folder that `generate --out` or `build --out` made"
    description = read_run(run, f"{run} holds neither a run nor a dataset; {advice}")
    plan: dict[str, Any] = {"hosts": [], "chains": {}}
    since = now - _WINDOW
    if (run / PLAN).exists():  # chains that were made elsewhere have no plan
        plan, since = read_checked(run / PLAN), max(since, (run / PLAN).stat().st_mtime)
    held_locks = _held_locks() if {*plan["hosts"]} <= {socket.gethostname()} else None
    whole, editors, recent = Progress(), defaultdict[str, Progress](Progress), 0
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    begun = _folders(run / "chains")
    for chain in plan["chains"].keys() - begun.keys():
        editor, calls = plan["chains"][chain]
        for total in (whole, editors[editor]):
            _add(total, Progress(chains=1, waiting=1, calls=calls))
    for chain, folder in begun.items():
        try:
            editor, progress, reason, written = _read_chain(folder, plan["chains"].get(chain), held_locks, now)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise Damaged(f"{folder} cannot be read ({error}); `convergebench verify` says what is broken") from error
        for total in (whole, editors[editor]):
            _add(total, progress)
        recent += progress.calls_done if progress.running or (progress.done and written >= since) else 0
        if reason:
            reasons[next(iter(progress.ends))][reason] += 1
    pace = recent / max(now - since, 0.001) if whole.running else None
    calls_left = whole.calls - whole.calls_done
    return Status(
        run=str(run),
        suite=str(description.get("suite", "")),
        suite_version=str(description.get("suite_version", "")),
        whole=whole,
        editors=dict(sorted(editors.items())),
        reasons={end: dict(counts.most_common(_SHOWN)) for end, counts in sorted(reasons.items())},
        calls_a_second=pace,
        seconds_left=calls_left / pace if pace else 0.0 if not calls_left else None,
    )


def _folders(chains: Path) -> dict[str, str]:
    with suppress(FileNotFoundError), os.scandir(chains) as entries:
        return {entry.name: entry.path for entry in entries if entry.name[0] != "." and entry.is_dir()}
    return {}


def _add(total: Progress, part: Progress) -> None:
    for name, value in vars(part).items():
        setattr(total, name, getattr(total, name) + value)
    total.spent = round(total.spent, 6)


def _read_chain(
    folder: str, plan: Sequence[object] | None, held_locks: set[int] | None, now: float
) -> tuple[str, Progress, str, float]:
    if plan is None:
        values = read_json(Path(folder) / "chain.json", " ")
        plan = values["editor"], int(values["rounds"]) * len(values["program"]["cycle"])
    editor, calls = str(plan[0]), int(str(plan[1]))
    try:
        with open(f"{folder}/done.json", "rb") as file:  # noqa: PTH123 - twenty thousand of them
            done, written = json.loads(file.read()), os.fstat(file.fileno()).st_mtime
    except FileNotFoundError:
        state, calls_done, written = _read_begun(Path(folder), held_locks, now)
        progress = Progress(chains=1, calls=calls, calls_done=calls_done, spent=cost_of_folder(Path(folder)))
        setattr(progress, state, 1)
        return editor, progress, "", written
    end = str(done["status"])
    reason = "" if end == "complete" else _NUMBERS.sub("#", str(done["reason"] or ""))[:200] or "no reason given"
    ends = Counter([end])
    progress = Progress(1, done=1, ends=ends, calls=calls, calls_done=calls, spent=float(done["cost"]))
    return editor, progress, reason, written


def _read_begun(folder: Path, held_locks: set[int] | None, now: float) -> tuple[str, int, float]:
    path = folder / "steps.jsonl"
    lines = path.read_bytes().count(b"\n") if path.exists() else 0  # unchecked, for a process may be adding to them
    times = [(folder / name).stat().st_mtime for name in ("steps.jsonl", LOCK) if (folder / name).exists()]
    written, state = max(times, default=now), "interrupted"
    with suppress(FileNotFoundError):
        lock = (folder / LOCK).stat().st_ino
        if lock in held_locks if held_locks is not None else now - written < _FRESH:
            state = "running"
    return state, max(0, lines - 1), written


def _held_locks() -> set[int] | None:
    """The inodes of all files that a process of this machine has locked; None if the system does not say.

    Testing a lock means taking it for a moment, and a process that wants it then would skip the chain.
    """
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return {int(line.split()[5].rpartition(":")[2]) for line in lines if "->" not in line}
