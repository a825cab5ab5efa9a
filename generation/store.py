"""The chain store: a folder per chain, in which presence means done and bytes stay as received.

RUN/run.json                  what the run is of
RUN/editors.json              what each editor, by its label, says of itself
RUN/ledger/calls.jsonl        what its calls cost, where they cost anything (see ledger.py)
RUN/log/                      what its processes were given to do, and their events (see run_log.py)
RUN/sources/SHA256.png        the sources' own files
RUN/chains/ID/chain.json      the chain
RUN/chains/ID/0000.png        its input as prepared for the editor
RUN/chains/ID/reference.png   what a finished round should equal, where that is another picture than the input
RUN/chains/ID/0001.png ...    the answers exactly as received
RUN/chains/ID/steps.jsonl     a line per finished step, written after its picture is durable
RUN/chains/ID/done.json       last of all

This file writes it; `store_reader.py` reads the finished chains.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Self

from PIL import Image

from . import pictures
from .files import LOCK, disk_errors_explained, locked, remove_unfinished, write_whole
from .records import Chain, EditorInfo, Step, Turn, UserError, canonical

FORMAT = 1
ABOUT = ("suite", "suite_version", "short_side", "salt_sha256")  # what a run may say that it is of
CHECK = "#check"  # key of the checksum in run.json and editors.json; no editor has such a label
NUMBERED = re.compile(r"\d{4,}\.\w+")


class Damaged(UserError):
    """A run's files contradict each other; nothing in them is touched."""


def open_run(run: Path, about: Mapping[str, Any], editors: Mapping[str, EditorInfo] | None = None) -> None:
    """Begin a run in a folder, or find there the same run begun before; add what is known of its editors."""
    about = {"format": FORMAT, **about}
    with disk_errors_explained(run), locked(run, wait=True):
        remove_unfinished(run)
        if (run / "run.json").exists():
            before = read_run(run)
            if before != about:
                raise UserError(f"{run} holds a run of {differing_words(before, about)}; choose another folder")
        elif (run / "chains").is_dir():
            raise Damaged(f"{run} holds chains and no run.json; restore it, or give another folder")
        else:
            foreign = sorted(path.name for path in run.iterdir() if path.name != LOCK)
            if foreign:
                raise UserError(
                    f"{run} holds {foreign[0]!r} but no run; give an empty folder or that of an earlier run"
                )
            # First of all, so that a run killed here is known for one when the same words are given again.
            write_json(run / "run.json", {**about, CHECK: checksum(about)})
        for name in ("sources", "chains"):
            (run / name).mkdir(exist_ok=True)
        there = read_checked(run / "editors.json") if (run / "editors.json").exists() else None
        known = {**(there or {}), **{label: info.to_dict() for label, info in (editors or {}).items()}}
        if known != there:
            write_json(run / "editors.json", {**known, CHECK: checksum(known)})


def read_run(run: Path, missing: str = "") -> dict[str, Any]:
    """What a run is of."""
    about = read_checked(run / "run.json", missing)
    if about.get("format") != FORMAT:
        raise UserError(f"{run} is a store of format {about.get('format')!r}; this version reads format {FORMAT}")
    if unknown := sorted(about.keys() - {"format", *ABOUT}):
        raise Damaged(f"{run / 'run.json'} says {unknown[0]!r}, which no run does; restore it")
    return about


def read_checked(path: Path, missing: str = "") -> dict[str, Any]:
    """A JSON object, checked against the checksum in it; the files of older versions have none."""
    values = read_json(path, missing)
    is_checked, check = CHECK in values, values.pop(CHECK, None)
    if is_checked and check != checksum(values):
        raise Damaged(f"{path} is not as it was written; restore it")
    return values


def checksum(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(values).encode()).hexdigest()[:16]


def differing_words(before: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """What a run is of and what it was to be of: 'suite smoke version 1, not of suite demo version 1'."""
    first, second = (f"suite {each.get('suite')} version {each.get('suite_version')}" for each in (before, about))
    return f"{first}, not of {second}" if first != second else f"{canonical(before)}, not of {canonical(about)}"


def keep_source(run: Path, sha256: str, data: bytes) -> None:
    """Keep a source's own file with the run."""
    path = run / "sources" / f"{sha256}.{pictures.sniff(data)}"
    with disk_errors_explained(run), locked(path.parent, wait=True):
        remove_unfinished(path.parent)
        if not path.exists():
            write_whole(path, data)


def is_done(run: Path, chain_id: str) -> bool:
    return (run / "chains" / chain_id / "done.json").exists()


def stored_end(folder: Path) -> object:
    """How a chain that is done ended."""
    if "status" not in (done := read_json(folder / "done.json")):
        raise Damaged(f"{folder / 'done.json'} has no status; restore it, or remove its folder to make it again")
    return done["status"]


def reopen(run: Path, chain_id: str, ends: Collection[str]) -> bool:
    """Take back the last step of a chain that ended so, to ask for it again; its line is kept in .retried.jsonl."""
    folder = run / "chains" / chain_id
    if stored_end(folder) not in tuple(ends):
        return False
    with disk_errors_explained(folder), locked(folder):
        steps = recover_steps(folder)
        (folder / "done.json").unlink()
        with (folder / ".retried.jsonl").open("ab") as log:
            append_line(log, steps[-1].to_dict())
        write_whole(folder / "steps.jsonl", "".join(canonical(step.to_dict()) + "\n" for step in steps[:-1]).encode())
    return True


def remove_chain(run: Path, chain_id: str) -> str:
    """Take a chain out of the run; the mark that it is done goes first. Sources stay, others may begin at them."""
    folder = run / "chains" / chain_id
    (folder / "done.json").unlink(missing_ok=True)
    shutil.rmtree(folder)
    return chain_id


def cost_so_far(run: Path) -> float:
    """US dollars that all steps of a run say they have cost, those that were taken back included."""
    return round(sum(cost_of_folder(folder) for folder in sorted((run / "chains").iterdir())), 6)


def cost_of_folder(folder: Path) -> float:
    """The same of one chain; what cannot be read is left out, because a damaged chain is named in its turn."""
    total = 0.0
    for path in (folder / "steps.jsonl", folder / ".retried.jsonl"):
        if path.is_file():
            for line in path.read_bytes().split(b"\n")[:-1]:
                with contextlib.suppress(ValueError, TypeError, AttributeError):
                    total += max(0.0, float(json.loads(line).get("cost") or 0.0))
    return round(total, 6)


def is_planned(found: Mapping[str, Any], chain: Chain) -> bool:
    """Whether a chain.json is that of the chain; one of before lacks what sources did not say then."""
    planned = json.loads(canonical(chain.to_dict()))
    source = found.get("source")
    return {**found, "source": planned["source"] | source if isinstance(source, dict) else source} == planned


class ChainWriter:
    """One chain's folder while it is being filled: what is there, and where the next step goes."""

    def __init__(self, folder: Path, steps: list[Step], log: BinaryIO):
        self.folder, self.steps, self.log = folder, steps, log

    @classmethod
    @contextlib.contextmanager
    def open(cls, run: Path, chain: Chain) -> Iterator[Self]:
        """Lock the chain's folder, clear away a step that was in flight when its process died, and go on from there."""
        folder = run / "chains" / chain.id
        with disk_errors_explained(folder), locked(folder):
            if not (folder / "chain.json").exists():
                write_json(folder / "chain.json", chain.to_dict())
            elif not is_planned(read_json(folder / "chain.json"), chain):
                raise Damaged(
                    f"{folder / 'chain.json'} is not the chain that is planned; restore it or remove the folder"
                )
            steps = recover_steps(folder)
            refuse_other_steps(folder, steps, chain)
            refuse_lost_lines(folder, len(steps))
            remove_unfinished(folder)
            for path in answers_from(folder, len(steps)):
                path.unlink()
            with (folder / "steps.jsonl").open("ab") as log:
                yield cls(folder, steps, log)

    @classmethod
    @contextlib.contextmanager
    def draft(cls, run: Path) -> Iterator[Self]:
        """Write a chain whose answers exist already, and whose id depends on them; `finish_draft` names it.

        The caller holds the run's lock, and what an import that died has left behind is cleared away.
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
        """The chain's own size: that of its input as prepared."""
        return self.steps[0].width or 0, self.steps[0].height or 0

    def last_picture(self) -> Image.Image:
        """The pixels of the last step, from which the next call's are made."""
        return self.picture(-1)

    def picture(self, number: int) -> Image.Image:
        """The pixels of a step."""
        step = self.steps[number]
        path = self.folder / str(step.file)
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != step.sha256:
            raise Damaged(f"{path} is not the file its record names; restore it or remove the chain's folder")
        return pictures.decode(data)

    def history(self) -> list[Turn]:
        """Every earlier step, for the editors that say they remember."""
        return [
            Turn(step.instruction, (self.folder / step.file).read_bytes(), step.details)
            for step in self.steps
            if step.file
        ]

    def begin(self, picture: Image.Image, reference: Image.Image | None = None) -> None:
        """Keep the input as prepared, as step 0."""
        if reference is not None:
            self.keep_reference(reference)
        self.append(Step(0, 0, 0, "", "input"), pictures.encode_png(picture), picture.size)

    def keep_reference(self, reference: Image.Image) -> None:
        """Keep what a finished round should equal, where it is another picture than the input."""
        write_whole(self.folder / "reference.png", pictures.encode_png(reference))

    def append(self, step: Step, data: bytes = b"", size: tuple[int, int] | None = None) -> Step:
        """Make a step durable, first its bytes, then its line; what the bytes are is added to the step."""
        if data:
            kind = pictures.sniff(data)
            file = f"{step.step:04d}.{kind}"
            write_whole(self.folder / file, data)
            width, height = size or (None, None)
            step = replace(
                step,
                file=file,
                sha256=hashlib.sha256(data).hexdigest(),
                bytes=len(data),
                type=kind,
                width=width,
                height=height,
            )
        append_line(self.log, step.to_dict())
        self.steps.append(step)
        return step

    def finish(self, status: str) -> None:
        """Say that nothing is left to do."""
        digests = {
            "sha256": hash_of_file(self.folder / "steps.jsonl"),
            "chain": hash_of_file(self.folder / "chain.json"),
        }
        # What `status` would otherwise have to read every step for.
        about = {"cost": cost_of_folder(self.folder), "reason": self.steps[-1].reason}
        write_json(self.folder / "done.json", {"status": status, "steps": len(self.steps) - 1, **about, **digests})

    def finish_draft(self, chain: Chain, status: str) -> bool:
        """Put the draft in its place as a finished chain; False where that chain is there already."""
        folder = self.folder.with_name(chain.id)
        if folder.exists():
            return False
        write_json(self.folder / "chain.json", chain.to_dict())
        self.finish(status)
        self.log.close()
        self.folder.rename(folder)
        return True


def end_of(steps: Sequence[Step]) -> str:
    """How a chain with these steps has ended, once nothing is left to do."""
    return "complete" if steps[-1].status in ("input", "ok") else steps[-1].status


def refuse_other_steps(folder: Path, steps: Sequence[Step], chain: Chain, imported: bool = False) -> None:
    """Raise Damaged where the steps are not the first ones that the chain asks for, or one follows a chain's end.

    Imported answers were asked for elsewhere, in words and with seeds of their own.
    """
    for number, (step, ask) in enumerate(zip(steps[1:], chain.asks(), strict=False), 1):
        planned = (*ask[1:3], ask[3] if not imported else step.instruction)
        if (step.round, step.position, step.instruction) != planned:
            problem = "is not what the chain asks for in that place"
        elif steps[number - 1].status not in ("input", "ok"):
            problem = "comes after the chain's end"
        else:
            continue
        raise Damaged(f"{folder / 'steps.jsonl'}, line {number + 1}, {problem}; restore the file or remove the folder")
    if steps and (steps[0].status != "input" or len(steps) - 1 > chain.rounds * len(chain.program.cycle)):
        raise Damaged(f"{folder / 'steps.jsonl'} does not hold the steps of its chain; restore it or remove the folder")


def answers_from(folder: Path, number: int) -> list[Path]:
    """The files of the steps from that number on."""
    return [path for path in folder.iterdir() if NUMBERED.fullmatch(path.name) and int(path.stem) >= number]


def refuse_lost_lines(folder: Path, steps: int) -> None:
    """Raise Damaged where answers lie in a chain's folder that were paid for, and whose lines are gone.

    A crash leaves one file without its line: that of the step in flight.
    """
    if orphans := answers_from(folder, steps + 1):
        first = min(orphans, key=lambda path: int(path.stem)).name
        raise Damaged(
            f"{folder / 'steps.jsonl'} ends after step {steps - 1}, and {first} lies beside it; restore the lines, "
            "or remove the folder to ask again"
        )


def hash_of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def recover_steps(folder: Path) -> list[Step]:
    """The finished steps of a chain that is being filled. A last line without its end was in flight and is cut off."""
    steps, whole = read_unfinished(folder)
    path = folder / "steps.jsonl"
    if path.exists() and whole < path.stat().st_size:
        os.truncate(path, whole)
    return steps


def read_unfinished(folder: Path) -> tuple[list[Step], int]:
    """The same steps, and how many bytes their lines take; nothing is written."""
    path = folder / "steps.jsonl"
    if not path.exists():
        return [], 0
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    steps = parse_steps(path, data[:whole])
    for step in steps:
        if step.file and (not (folder / step.file).exists() or (folder / step.file).stat().st_size != step.bytes):
            advice = "restore it, or delete its line and those after it from steps.jsonl"
            raise Damaged(f"{folder / step.file} is missing or cut short; {advice}")
    return steps, whole


def parse_steps(path: Path, data: bytes) -> list[Step]:
    """The steps that the lines of a steps.jsonl hold; every fault in them is damage."""
    steps = []
    for number, line in enumerate(data.splitlines()):
        try:
            step = Step.from_dict(json.loads(line))
            if step.step != number:
                raise ValueError(f"step {step.step} stands in the place of step {number}")
            if step.file is not None and Path(step.file).name != step.file:
                raise ValueError(f"it names a file outside its folder, {step.file!r}")
            if step.has_picture and not (step.file and step.sha256 and step.width and step.height):
                raise ValueError(f"it is {step.status!r} but names no picture")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, UserError) as error:
            raise Damaged(
                f"{path}, line {number + 1}, is not a step ({error}); restore the file, "
                "or delete the lines from there on and generate again"
            ) from error
        steps.append(step)
    return steps


def read_json(path: Path, missing: str = "") -> dict[str, Any]:
    """A JSON object of the store; `missing` is the sentence for a file that is not there."""
    try:
        values = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise Damaged(missing or f"{path} is missing; restore it or remove its folder") from None
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{path} is not JSON ({error}); restore it, or remove its folder to make it again") from error
    if not isinstance(values, dict):
        raise Damaged(f"{path} holds {type(values).__name__} where an object is expected; restore it")
    return values


def write_json(path: Path, value: object) -> None:
    write_whole(path, (canonical(value) + "\n").encode())


def append_line(log: BinaryIO, value: object) -> None:
    """Add a line of JSON to a log and wait until it is durable."""
    log.write((canonical(value) + "\n").encode())
    log.flush()
    os.fsync(log.fileno())
