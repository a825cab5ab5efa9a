"""The chain store: a folder per chain, in which done.json marks a finished chain and bytes stay as received.

RUN/run.json                  the run's suite, its version and its evaluation size
RUN/editors.json              each editor's description of itself, by its label
RUN/ledger/calls.jsonl        the cost of its calls, if they cost anything (see ledger.py)
RUN/plan.json                 the hosts that ran it; each planned chain with its editor and calls, for status.py
RUN/sources/SHA256.png        the sources' own files
RUN/chains/ID/chain.json      the chain
RUN/chains/ID/0000.png        its input as prepared for the editor
RUN/chains/ID/reference.png   what a finished round should equal, if that is another picture than the input
RUN/chains/ID/0001.png ...    the answers exactly as received
RUN/chains/ID/steps.jsonl     a line per finished step, written after its picture is on disk
RUN/chains/ID/done.json       last of all

This file writes the store; `store_reader.py` reads the finished chains.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Self

from PIL import Image

from . import pictures
from .files import LOCK, disk_errors_explained, locked, remove_unfinished, write_whole
from .records import GOES_ON, NEXT, PICTURED, Chain, EditorInfo, Json, Step, Turn, UserError, Values, canonical

PLAN = "plan.json"
_CHECK = "#check"  # key of the checksum in run.json and editors.json; no editor has such a label
_ANSWER = re.compile(r"\d{4,}\.\w{1,10}")


class Damaged(UserError):
    """A run's files are missing, unreadable or contradict each other."""


# --- the run


def open_run(
    run: Path, description: Values, editors: Mapping[str, EditorInfo] | None = None, planned: Iterable[Chain] = ()
) -> None:
    description = {"format": 1, **description}
    with disk_errors_explained(run), locked(run, wait=True):
        remove_unfinished(run)
        if (run / "run.json").exists():
            if (before := read_checked(run / "run.json")) != description:
                raise UserError(f"{run} holds another run, {canonical(before)}; choose another folder")
        elif (run / "chains").is_dir():
            raise Damaged(f"{run} holds chains and no run.json; restore it, or give another folder")
        else:
            if foreign := sorted(path.name for path in run.iterdir() if path.name != LOCK):
                raise UserError(f"{run} holds {foreign[0]!r} but no run; give an empty folder or that of a run")
            # First, so that a run killed here is recognised when the same command is given again.
            _write_checked(run / "run.json", description)
        for name in ("sources", "chains"):
            (run / name).mkdir(exist_ok=True)
        _add_editors(run / "editors.json", editors or {})
        if not planned:
            return
        plan = read_plan(run)
        chains = plan["chains"] | {chain.id: [chain.editor, chain.calls] for chain in planned}
        hosts = sorted({*plan["hosts"], socket.gethostname()})
        _write_checked(run / PLAN, {"hosts": hosts, "chains": chains})


def _add_editors(path: Path, editors: Mapping[str, EditorInfo]) -> None:
    described = read_checked(path) if path.exists() else None
    infos = (described or {}) | {label: info.to_dict() for label, info in editors.items()}
    if infos != described:
        _write_checked(path, infos)


def read_plan(run: Path) -> Json:
    """The hosts of a run, and the editor and the calls of each planned chain; chains made elsewhere have no plan."""
    path = run / PLAN
    if not path.exists():
        return {"hosts": [], "chains": {}}
    try:
        return read_checked(path)
    except Damaged as error:
        advice = "restore it, or remove it and give the commands of this run again"
        raise Damaged(f"{path} is damaged; {advice}") from error


def read_checked(path: Path, missing: str = "") -> Json:
    """A JSON object, verified against the checksum in it."""
    values = read_json(path, missing)
    if values.pop(_CHECK, None) != _checksum(values) or _name_of(values) != path.name:
        raise Damaged(f"{path} is damaged; restore it")
    return values


def _name_of(values: Values) -> str:
    """The file that has such values: another one with a checksum may be in its place."""
    if isinstance(values.get("hosts"), list):
        return PLAN
    return "run.json" if isinstance(values.get("format"), int) else "editors.json"


def _write_checked(path: Path, values: Values) -> None:
    _write_json(path, {**values, _CHECK: _checksum(values)})


def _checksum(values: Values) -> str:
    return hashlib.sha256(canonical(values).encode()).hexdigest()[:16]


def keep_source(run: Path, sha256: str, data: bytes) -> None:
    path = run / "sources" / f"{sha256}.{pictures.sniff(data)}"
    with disk_errors_explained(run), locked(path.parent, wait=True):
        remove_unfinished(path.parent)
        if not path.exists():
            write_whole(path, data)


def cost_so_far(run: Path) -> float:
    return round(sum(cost_of_folder(folder) for folder in sorted((run / "chains").glob("*"))), 6)


def cost_of_folder(folder: Path) -> float:
    """What a chain cost; unreadable lines are reported when it is opened."""
    total = 0.0
    for path in (folder / "steps.jsonl", folder / ".retried.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1] if path.is_file() else ():
            with contextlib.suppress(ValueError, TypeError, AttributeError):
                total += max(0.0, float(json.loads(line).get("cost") or 0.0))
    return round(total, 6)


# --- a chain


def is_done(run: Path, chain_id: str) -> bool:
    return (run / "chains" / chain_id / "done.json").exists()


def reopen(run: Path, chain_id: str, ends: Collection[str]) -> bool:
    """Move the last step to .retried.jsonl if the chain ended so; whether it did."""
    folder = run / "chains" / chain_id
    if read_json(folder / "done.json").get("status") not in tuple(ends):
        return False
    with disk_errors_explained(folder), locked(folder):
        steps = recover_steps(folder)
        (folder / "done.json").unlink()
        with (folder / ".retried.jsonl").open("ab") as log:
            _append_line(log, steps[-1].to_dict())
        write_whole(folder / "steps.jsonl", b"".join(_line(step.to_dict()) for step in steps[:-1]))
    return True


def remove_chain(run: Path, chain_id: str) -> None:
    """Remove a chain. Sources stay, because other chains may begin with them."""
    (run / "chains" / chain_id / "done.json").unlink(missing_ok=True)
    shutil.rmtree(run / "chains" / chain_id)


class ChainWriter:
    """Writes the steps of one chain into its folder."""

    def __init__(self, folder: Path, steps: list[Step], log: BinaryIO):
        self.folder, self.steps, self._log = folder, steps, log

    @classmethod
    @contextlib.contextmanager
    def open(cls, run: Path, chain: Chain) -> Iterator[Self]:
        """Lock the chain's folder, remove a step that was in flight, and continue there."""
        folder = run / "chains" / chain.id
        with disk_errors_explained(folder), locked(folder):
            path = folder / "chain.json"
            if not path.exists():
                _write_json(path, chain.to_dict())
            elif read_json(path) != json.loads(canonical(chain.to_dict())):
                raise Damaged(f"{path} is not the chain that is planned; restore it or remove the folder")
            steps = recover_steps(folder, chain)
            remove_unfinished(folder)
            for answer in _answers_from(folder, len(steps)):
                answer.unlink()
            with (folder / "steps.jsonl").open("ab") as log:
                yield cls(folder, steps, log)

    @classmethod
    @contextlib.contextmanager
    def draft(cls, run: Path) -> Iterator[Self]:
        """Write a chain whose answers exist already, and whose id depends on them; `finish_draft` names it.

        The caller holds the run's lock. The draft of an import that was killed is removed.
        """
        folder = run / "chains" / ".draft"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            with (folder / "steps.jsonl").open("ab") as log:
                yield cls(folder, [], log)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def size(self) -> tuple[int, int]:
        return self.steps[0].width or 0, self.steps[0].height or 0

    def picture(self, number: int) -> Image.Image:
        return pictures.decode(read_answer(self.folder, self.steps[number]))

    def history(self) -> list[Turn]:
        steps = [step for step in self.steps if step.file]
        return [
            Turn(step.instruction, (self.folder / str(step.file)).read_bytes(), step.details) for step in steps
        ]

    def begin(self, picture: Image.Image, reference: Image.Image | None = None) -> None:
        if reference is not None:
            write_whole(self.folder / "reference.png", pictures.encode_png(reference))
        self.append(Step(0, 0, 0, "", "input"), pictures.encode_png(picture), picture.size)

    def append(self, step: Step, data: bytes = b"", size: tuple[int, int] | None = None) -> Step:
        if data:
            kind = pictures.sniff(data)
            file = f"{step.step:04d}.{kind}"
            write_whole(self.folder / file, data)
            step = replace(step, file=file, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), type=kind)
            step = replace(step, width=size[0], height=size[1]) if size else step
        _append_line(self._log, step.to_dict())
        self.steps.append(step)
        return step

    def finish(self) -> str:
        """Write done.json; returns how the chain ended."""
        done = describe_end(self.folder, self.steps, (self.folder / "steps.jsonl").read_bytes())
        _write_json(self.folder / "done.json", done)
        return str(done["status"])

    def finish_draft(self, chain: Chain) -> bool:
        """Move the draft into place as a finished chain; False if that chain exists already."""
        folder = self.folder.with_name(chain.id)
        if folder.exists():
            return False
        _write_json(self.folder / "chain.json", chain.to_dict())
        self.finish()
        self._log.close()
        self.folder.rename(folder)
        return True


# --- checks of a chain's files


def describe_end(folder: Path, steps: Sequence[Step], data: bytes) -> dict[str, object]:
    """The content of a chain's done.json; `data` is its steps.jsonl."""
    last = steps[-1].status
    was_retried = (folder / ".retried.jsonl").exists()  # then the steps do not hold the whole cost
    return {
        "status": "complete" if last in GOES_ON else last,
        "steps": len(steps) - 1,
        # Cost and reason, so that `status` need not read the steps.
        "cost": cost_of_folder(folder) if was_retried else round(sum(step.cost or 0.0 for step in steps), 6),
        "reason": steps[-1].reason,
        "sha256": hashlib.sha256(data).hexdigest(),
        "chain": hashlib.sha256((folder / "chain.json").read_bytes()).hexdigest(),
    }


def recover_steps(folder: Path, chain: Chain | None = None, truncate: bool = True) -> list[Step]:
    """The finished steps of an unfinished chain; truncates an incomplete last line, whose step was in flight.

    Raises Damaged if steps lack their files, or paid answers their lines.
    """
    path = folder / "steps.jsonl"
    data = path.read_bytes() if path.exists() else b""
    whole = data.rfind(b"\n") + 1
    steps = parse_steps(path, data[:whole], chain)
    for step in steps:
        if step.file and (not (folder / step.file).exists() or (folder / step.file).stat().st_size != step.bytes):
            advice = "restore it, or delete its line and those after it from steps.jsonl"
            raise Damaged(f"{folder / step.file} is missing or cut short; {advice}")
    if orphans := _answers_from(folder, len(steps) + 1):  # a crash leaves one at most, of the step in flight
        advice = "restore the lines, or remove the folder to ask again"
        raise Damaged(f"{path} ends after step {len(steps) - 1}, but {min(orphans).name} exists; {advice}")
    if truncate and whole < len(data):
        os.truncate(path, whole)
    return steps


def _answers_from(folder: Path, number: int) -> list[Path]:
    return [path for path in folder.iterdir() if _ANSWER.fullmatch(path.name) and int(path.stem) >= number]


def parse_steps(path: Path, data: bytes, chain: Chain | None = None) -> list[Step]:
    steps: list[Step] = []
    asks = {number: place for number, *place in chain.asks()} if chain else {}
    for number, line in enumerate(data.splitlines()):
        try:
            step = Step.from_dict(json.loads(line))
            _check_step(step, number)
            if chain:
                _check_place(step, steps, asks.get(number, [None]), "content" in chain.settings)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, UserError) as error:
            advice = "restore the file, or delete the lines from there on and generate again"
            raise Damaged(f"{path}, line {number + 1}, is not a step ({error}); {advice}") from error
        steps.append(step)
    return steps


def _check_place(step: Step, earlier: Sequence[Step], asked: list[object], is_imported: bool) -> None:
    """Raise ValueError unless the chain asks for the step after these."""
    if (not earlier) != (step.status == "input"):
        raise ValueError("only the first step is the input")
    if not earlier:
        return
    # What was imported may have been asked for in other words; a simulated user's words are not planned.
    words = asked[-1] if is_imported or asked[-1] == NEXT else step.instruction
    if [step.round, step.position, words] != asked:
        raise ValueError("it is not what the chain asks for in that place")
    if earlier[-1].status not in GOES_ON:
        raise ValueError("it comes after the chain's end")


def _check_step(step: Step, number: int) -> None:
    if step.step != number:
        raise ValueError(f"step {step.step} is in the place of step {number}")
    if step.file is not None and not re.fullmatch(rf"{number:04}\.\w{{1,10}}", step.file):
        raise ValueError(f"it names a file that is not its own, {step.file[:80]!r}")
    if step.status in PICTURED and not (step.file and step.sha256 and step.width and step.height):
        raise ValueError(f"it is {step.status!r} but names no picture")


# --- files


def read_answer(folder: Path, step: Step) -> bytes:
    """A step's bytes as received, checked against its record."""
    path = folder / str(step.file)
    data = read_bytes(path)
    if len(data) != step.bytes:
        raise Damaged(f"{path} has {len(data):,} bytes but its record says {step.bytes:,}; restore it")
    if hashlib.sha256(data).hexdigest() != step.sha256:
        raise Damaged(f"{path} is not the picture its record names (sha256 differs); restore it")
    return data


def read_bytes(path: Path, missing: str = "") -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        advice = "restore it, or remove its folder and generate again"
        raise Damaged(missing or f"{path} is missing; {advice}") from None


def read_json(path: Path, missing: str = "") -> Json:
    try:
        values = json.loads(read_bytes(path, missing))
    except (ValueError, RecursionError) as error:
        advice = "restore it, or remove its folder to make it again"
        raise Damaged(f"{path} is not JSON ({error}); {advice}") from error
    if not isinstance(values, dict):
        raise Damaged(f"{path} holds {type(values).__name__} instead of an object; restore it")
    return values


def _line(value: object) -> bytes:
    return (canonical(value) + "\n").encode()


def _write_json(path: Path, value: object) -> None:
    write_whole(path, _line(value))


def _append_line(log: BinaryIO, value: object) -> None:
    log.write(_line(value))
    log.flush()
    os.fsync(log.fileno())
