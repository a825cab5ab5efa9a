"""The chain store: a folder per chain, in which presence means done and bytes stay as received.

RUN/run.json                  what the run is of
RUN/sources/SHA256.png        the sources' own files
RUN/chains/ID/chain.json      the chain
RUN/chains/ID/0000.png        its input as prepared for the editor
RUN/chains/ID/0001.png ...    the answers exactly as received
RUN/chains/ID/steps.jsonl     a line per finished step, written after its picture is durable
RUN/chains/ID/done.json       last of all
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self

from PIL import Image

from . import pictures as images
from .records import Answer, Chain, Step, Turn, UserError, canonical

FORMAT = 1
NUMBERED = re.compile(r"\d{4,}\.\w+")


class Busy(Exception):
    """Another process owns the chain."""


class Damaged(UserError):
    """A chain's folder contradicts its own record; nothing in it is touched."""


@contextlib.contextmanager
def owned(folder: Path, wait: bool = False) -> Iterator[int]:
    """Own a folder for as long as the block runs; the lock dies with its owner and leaves nothing behind."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(handle)
        raise Busy(f"{folder} is owned by another process") from None
    try:
        yield handle
    finally:
        os.close(handle)


def write(path: Path, data: bytes) -> None:
    """Write a small file so that it is whole or absent."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


@contextlib.contextmanager
def plainly(folder: Path) -> Iterator[None]:
    """Say in one sentence what the file system refused."""
    try:
        yield
    except OSError as error:
        causes = {
            errno.ENOSPC: "the disk is full; free some space",
            errno.EDQUOT: "the disk quota is used up; free some space",
            errno.EROFS: "the file system is read-only; choose another folder",
            errno.EACCES: "writing is not allowed; choose another folder or its owner",
            errno.EPERM: "writing is not allowed; choose another folder or its owner",
            errno.ENOTDIR: "that is not a folder; choose another",
            errno.EEXIST: "that is not a folder; choose another",
        }
        if error.errno not in causes:
            raise
        cause = causes[error.errno]
        raise UserError(
            f"cannot write to {folder}: {cause} and give the same command again, nothing is lost"
        ) from error


def open_run(folder: Path, about: dict[str, Any]) -> None:
    """Begin a run in a folder, or find there the same run begun before."""
    about = {"format": FORMAT, **about}
    with plainly(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with owned(folder, wait=True):
            if (folder / "run.json").exists():
                kept = read_json(folder / "run.json")
                if kept != about:
                    raise UserError(
                        f"{folder} holds a run of {canonical(kept)}, not of {canonical(about)}; choose another folder"
                    )
            elif strangers := sorted(path.name for path in folder.iterdir() if path.suffix != ".part"):
                raise UserError(
                    f"{folder} holds {strangers[0]!r} but no run; give an empty folder or that of an earlier run"
                )
            # First of all, so that a run killed here is known for one when the same words are given again.
            write(folder / "run.json", (canonical(about) + "\n").encode())
            for name in ("sources", "chains"):
                (folder / name).mkdir(exist_ok=True)


def keep_source(folder: Path, sha256: str, data: bytes) -> None:
    """Keep a source's own file with the run."""
    path = folder / "sources" / f"{sha256}.{images.sniff(data)}"
    with plainly(folder):
        if not path.exists():
            with owned(folder, wait=True):
                write(path, data)


def is_done(folder: Path, chain_id: str) -> bool:
    return (folder / "chains" / chain_id / "done.json").exists()


def reopen(run: Path, chain_id: str, ends: Collection[str]) -> bool:
    """Take back the last step of a chain that ended so, to ask for it again; its line is kept in .retried.jsonl."""
    folder = run / "chains" / chain_id
    if read_json(folder / "done.json")["status"] not in ends:
        return False
    with plainly(folder), owned(folder):
        steps = read_steps(folder)
        (folder / "done.json").unlink()
        with (folder / ".retried.jsonl").open("ab") as log:
            log.write((canonical(steps[-1].to_dict()) + "\n").encode())
            log.flush()
            os.fsync(log.fileno())
        write(folder / "steps.jsonl", "".join(canonical(step.to_dict()) + "\n" for step in steps[:-1]).encode())
    return True


def spent(run: Path, chain_id: str) -> float:
    """US dollars that a chain has cost so far, steps taken back included."""
    folder, total = run / "chains" / chain_id, 0.0
    for name in ("steps.jsonl", ".retried.jsonl"):
        if (folder / name).exists():
            for line in (folder / name).read_bytes().split(b"\n")[:-1]:
                with contextlib.suppress(ValueError):  # a damaged chain is named in its turn
                    total += json.loads(line).get("cost") or 0.0
    return total


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise Damaged(f"{path} is not JSON ({error}); restore it, or remove its folder to make it again") from error


class Kept:
    """One chain's folder while it is being filled: what is there, and where the next step goes."""

    def __init__(self, folder: Path, handle: int, steps: list[Step], log: BinaryIO):
        self.folder, self.handle, self.steps, self.log = folder, handle, steps, log

    @classmethod
    @contextlib.contextmanager
    def open(cls, run: Path, chain: Chain) -> Iterator[Self]:
        """Own the chain's folder, clear away a step that was in flight when its process died, and go on from there."""
        folder = run / "chains" / chain.id
        with plainly(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with owned(folder) as handle:
                if not (folder / "chain.json").exists():
                    write(folder / "chain.json", (canonical(chain.to_dict()) + "\n").encode())
                steps = read_steps(folder)
                for path in folder.iterdir():
                    in_flight = NUMBERED.fullmatch(path.name) and int(path.stem) >= len(steps)
                    if in_flight or path.suffix == ".part":
                        path.unlink()
                with (folder / "steps.jsonl").open("ab") as log:
                    yield cls(folder, handle, steps, log)

    def picture(self) -> Image.Image:
        """The pixels that the next call is given."""
        last = self.steps[-1]
        data = (self.folder / str(last.file)).read_bytes()
        if hashlib.sha256(data).hexdigest() != last.sha256:
            path = self.folder / str(last.file)
            raise Damaged(f"{path} is not the file its record names; restore it or remove the chain's folder")
        return images.decode(data)

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
            write(self.folder / "reference.png", images.png(reference))
        self.append(0, 0, 0, "", None, "input", Answer(images.png(picture)), picture)

    def append(
        self,
        number: int,
        round: int,
        position: int,
        instruction: str,
        seed: int | None,
        status: str,
        answer: Answer,
        picture: Image.Image | None,
        latency: float | None = None,
    ) -> Step:
        """Make a step durable: first its bytes, then its line."""
        kind = images.sniff(answer.data) if answer.data else None
        step = Step(
            step=number,
            round=round,
            position=position,
            instruction=instruction,
            status=status,
            seed=seed,
            file=f"{number:04d}.{kind}" if kind else None,
            sha256=hashlib.sha256(answer.data).hexdigest() if kind else None,
            bytes=len(answer.data) if kind else None,
            type=kind,
            width=picture.width if picture else None,
            height=picture.height if picture else None,
            latency=latency,
            cost=answer.cost,
            reason=answer.reason or None,
            text=answer.text or None,
            details=answer.details,
        )
        if step.file:
            with (self.folder / step.file).open("wb") as file:
                file.write(answer.data)
                file.flush()
                os.fsync(file.fileno())
            os.fsync(self.handle)
        self.log.write((canonical(step.to_dict()) + "\n").encode())
        self.log.flush()
        os.fsync(self.log.fileno())
        self.steps.append(step)
        return step

    def finish(self, status: str) -> None:
        """Say that nothing is left to do."""
        digest = hashlib.sha256((self.folder / "steps.jsonl").read_bytes()).hexdigest()
        done = {"status": status, "steps": len(self.steps) - 1, "sha256": digest}
        write(self.folder / "done.json", (canonical(done) + "\n").encode())


def read_steps(folder: Path) -> list[Step]:
    """The finished steps. A last line without its end was in flight and is cut off; any other fault is damage."""
    path = folder / "steps.jsonl"
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    steps = []
    for place, line in enumerate(data[:whole].splitlines()):
        try:
            step = Step.from_dict(json.loads(line))
            if step.step != place:
                raise ValueError(f"step {step.step} stands in the place of step {place}")
        except (ValueError, TypeError, KeyError, UserError) as error:
            raise Damaged(
                f"{path}, line {place + 1}, is not a step ({error}); delete the lines from there on to make them again"
            ) from error
        steps.append(step)
    for step in steps:
        if step.file and (not (folder / step.file).exists() or (folder / step.file).stat().st_size != step.bytes):
            advice = "restore it, or delete its line and those after it from steps.jsonl"
            raise Damaged(f"{folder / step.file} is missing or cut short; {advice}")
    if whole < len(data):
        os.truncate(path, whole)
    return steps
