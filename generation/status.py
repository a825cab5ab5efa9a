"""The status of a run, read from its folder during or after the run; locks and writes nothing."""

import json
import re
import socket
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

from .files import LOCK
from .records import Json
from .store import Damaged, cost_of_folder, read_checked, read_json, read_plan

ENDS = ("complete", "shrunk", "refused", "no_image", "failed")
# Interrupted chains were begun, but no process runs them; waiting ones were not begun. `calls_done`
# includes calls that are no longer needed because a chain ended early. `spent` is in US dollars.
_COUNTS = ("chains", "done", *ENDS, "running", "interrupted", "waiting", "calls", "calls_done", "spent")
_FRESH = 600.0  # seconds; a chain on another machine counts as running if it wrote something since
_SHOWN = 5  # how many reasons are listed
_NUMBERS = re.compile(r"[0-9a-f]{8,}|\d+")  # ids and counts, which are ignored when reasons are compared
_Counts = dict[str, float]
_WAITING: _Counts = {"waiting": 1}


def read_status(run: Path) -> Json:
    """The suite, the counts of the whole and of each editor, and for each end why and how often."""
    description = read_checked(
        run / "run.json", f"{run} holds no run; give the folder that `generate --out` made"
    )
    plan = read_plan(run)
    held_locks = _held_locks() if {*plan["hosts"]} <= {socket.gethostname()} else None
    editors: dict[str, _Counts] = defaultdict(lambda: dict.fromkeys(_COUNTS, 0))
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    begun = {path.name: path for path in (run / "chains").glob("[!.]*") if path.is_dir()}
    for chain in plan["chains"].keys() | begun.keys():
        counts, reason = _WAITING, ""
        try:
            editor, calls = plan["chains"].get(chain) or _read_description(begun[chain])
            if chain in begun:
                counts, reason = _read_chain(begun[chain], calls, held_locks)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            advice = "`convergebench verify` says what is broken"
            raise Damaged(f"{begun.get(chain, run)} cannot be read ({error}); {advice}") from error
        if reason:
            reasons[next(iter(counts))][reason] += 1
        for name, count in (("chains", 1), ("calls", calls), *counts.items()):
            editors[editor][name] = round(editors[editor][name] + count, 6)
    whole = {name: round(sum(counts[name] for counts in editors.values()), 6) for name in _COUNTS}
    return {
        "suite": description.get("suite", ""),
        "suite_version": description.get("suite_version", ""),
        "whole": whole,
        "editors": dict(sorted(editors.items())),
        "reasons": {end: dict(counts.most_common(_SHOWN)) for end, counts in sorted(reasons.items())},
    }


def _read_description(folder: Path) -> tuple[str, int]:
    values = read_json(folder / "chain.json", " ")
    return str(values["editor"]), int(values["rounds"]) * len(values["program"]["cycle"])


def _read_chain(folder: Path, calls: int, held_locks: set[int] | None) -> tuple[_Counts, str]:
    try:
        done = json.loads((folder / "done.json").read_bytes())
    except FileNotFoundError:
        return _read_begun(folder, held_locks), ""
    end = ENDS[ENDS.index(done["status"])]
    reason = "" if end == "complete" else _NUMBERS.sub("#", str(done["reason"] or ""))[:200] or "no reason given"
    return {end: 1, "done": 1, "calls_done": calls, "spent": float(done["cost"])}, reason


def _read_begun(folder: Path, held_locks: set[int] | None) -> _Counts:
    path = folder / "steps.jsonl"
    # Unchecked, for a process may be adding to them.
    lines = path.read_bytes().count(b"\n") if path.exists() else 0
    state = "interrupted"
    with suppress(FileNotFoundError):
        lock = (folder / LOCK).stat()
        written = max(lock.st_mtime, path.stat().st_mtime if path.exists() else 0)
        if lock.st_ino in held_locks if held_locks is not None else time.time() - written < _FRESH:
            state = "running"
    return {state: 1, "calls_done": max(0, lines - 1), "spent": cost_of_folder(folder)}


def _held_locks() -> set[int] | None:
    """The inodes of all files that a process of this machine has locked; None if the system does not say.

    Testing a lock means taking it for a moment, and a process that wants it then would skip the chain.
    """
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return {int(line.split()[5].rpartition(":")[2]) for line in lines if "->" not in line}
