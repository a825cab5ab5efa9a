"""Reads the chain store through its files: which chains are done, their steps, and bytes that match their record."""

import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convergebench.generation.records import ENDS, Chain, Step, UserError

FORMAT = 1
PICTURED = ("input", "ok", "shrunk")  # the statuses of a step whose bytes decode to a picture


@dataclass(frozen=True)
class Stored:
    """A done chain in a store."""

    chain: Chain
    folder: Path
    suite: str
    suite_version: str
    status: str
    steps: int
    digest: str  # of steps.jsonl, which names every picture's hash

    @property
    def order(self) -> tuple[str, str, str, int, str]:
        return self.chain.editor, self.chain.source.id, self.chain.program.id, self.chain.run, self.chain.id


@dataclass
class Found:
    """What the stores hold: done chains by id, what is not done, and what is no part of a store."""

    done: dict[str, Stored] = field(default_factory=dict)
    unfinished: list[Path] = field(default_factory=list)
    foreign: list[Path] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows that `steps` will have."""
        return sum(one.steps + 1 for one in self.done.values())


def find(runs: Iterable[Path]) -> Found:
    """Every done chain of several runs; a chain found twice must be the same chain."""
    found = Found()
    for run in sorted(runs):
        about = read_json(
            run / "run.json", f"{run} holds no run.json; give the folder that `convergebench generate --out` made"
        )
        if about.get("format") != FORMAT:
            raise UserError(f"{run} is a store of format {about.get('format')!r}; this version reads format {FORMAT}")
        for folder in sorted((run / "chains").iterdir()) if (run / "chains").is_dir() else []:
            if folder.name.startswith("."):
                continue
            if not folder.is_dir():
                found.foreign.append(folder)
            elif not (folder / "done.json").exists():
                found.unfinished.append(folder)
            else:
                stored = read_chain(folder, str(about.get("suite", "")), str(about.get("suite_version", "")))
                keep(found, stored)
                found.foreign += foreign_files(stored)
    return found


def keep(found: Found, stored: Stored) -> None:
    """Keep one of two equal chains, the same one in whichever order the runs were given."""
    other = found.done.get(stored.chain.id)
    if other and (other.digest, other.chain) != (stored.digest, stored.chain):
        raise UserError(
            f"chain {stored.chain.id} is in {other.folder} and in {stored.folder} with different content; "
            "build from one of the two"
        )
    if not other or (stored.suite, stored.suite_version) < (other.suite, other.suite_version):
        found.done[stored.chain.id] = stored


def read_chain(folder: Path, suite: str, suite_version: str) -> Stored:
    """The chain and how it ended, after checking that they belong to this folder."""
    values = read_json(
        folder / "chain.json", f"{folder} is done but has no chain.json; restore it or remove the folder"
    )
    done = read_json(folder / "done.json", f"{folder} has no done.json")
    try:
        chain = Chain.from_dict(values)
        stored = Stored(chain, folder, suite, suite_version, done["status"], int(done["steps"]), done["sha256"])
    except (KeyError, TypeError, ValueError, UserError) as error:
        raise UserError(f"{folder} holds no readable chain ({error}); restore it or remove the folder") from error
    if chain.id != folder.name:
        raise UserError(f"{folder / 'chain.json'} describes chain {chain.id}; restore it or remove the folder")
    if stored.status not in ENDS:
        raise UserError(f"{folder / 'done.json'} has status {stored.status!r}; it is one of {', '.join(ENDS)}")
    return stored


def read_steps(stored: Stored) -> list[Step]:
    """The steps of a done chain, exactly those it was finished with."""
    path = stored.folder / "steps.jsonl"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} is missing; restore it or remove the chain's folder and generate again") from None
    steps = []
    for number, line in enumerate(data.splitlines()):
        try:
            step = Step.from_dict(json.loads(line))
        except (ValueError, TypeError, UserError) as error:
            raise UserError(f"{path}, line {number + 1}, is not a step ({error}); restore the file") from error
        if step.step != number:
            raise UserError(f"{path}, line {number + 1}, is step {step.step} instead of {number}; restore the file")
        if step.file is not None and Path(step.file).name != step.file:
            raise UserError(
                f"{path}, line {number + 1}, names a file outside its folder, {step.file!r}; restore the file"
            )
        if step.status in PICTURED and not (step.file and step.sha256 and step.width and step.height):
            raise UserError(f"{path}, line {number + 1}, is {step.status!r} but names no picture; restore the file")
        steps.append(step)
    if len(steps) != stored.steps + 1 or hashlib.sha256(data).hexdigest() != stored.digest:
        raise UserError(
            f"{path} is not the file that done.json was written for; restore it or generate the chain again"
        )
    return steps


def read_picture(stored: Stored, step: Step) -> bytes | None:
    """The bytes as received, checked against the record; None where the step has no picture."""
    if step.status not in PICTURED or step.file is None:
        return None
    path = stored.folder / step.file
    data = read_bytes(path)
    if len(data) != step.bytes:
        raise UserError(f"{path} has {len(data):,} bytes where its record says {step.bytes:,}; restore it")
    if hashlib.sha256(data).hexdigest() != step.sha256:
        raise UserError(f"{path} is not the picture its record names (sha256 differs); restore it")
    return data


def read_reference(stored: Stored) -> bytes | None:
    """The reference as prepared, where it is another picture than the input."""
    path = stored.folder / "reference.png"
    return read_bytes(path) if stored.chain.source.reference is not None or path.exists() else None


def reference_size(stored: Stored) -> int:
    path = stored.folder / "reference.png"
    return path.stat().st_size if path.exists() else 0


def source_size(stored: Stored) -> int:
    return source_path(stored).stat().st_size


def source_path(stored: Stored) -> Path:
    wanted = stored.chain.source.sha256
    folder = stored.folder.parent.parent / "sources"
    for path in sorted(folder.glob(f"{wanted}.*")):
        if path.suffix != ".part":
            return path
    raise UserError(f"{folder} lacks the file of source {stored.chain.source.id!r} ({wanted[:12]}...); restore it")


def read_source(stored: Stored) -> tuple[str, bytes]:
    """The source's own file: its name and its bytes."""
    path, wanted = source_path(stored), stored.chain.source.sha256
    data = read_bytes(path)
    if hashlib.sha256(data).hexdigest() != wanted and pixel_hash(path, data) != wanted:
        raise UserError(f"{path} is not the picture its name says (sha256 differs); restore it")
    return path.name, data


def pixel_hash(path: Path, data: bytes) -> str:
    """sha256 of the binary PPM of the pixels, which names a painted source whatever encoder wrote its PNG."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            pixels = image.convert("RGB")
    except (OSError, SyntaxError) as error:
        raise UserError(f"{path} is not a readable picture ({error}); restore it") from error
    header = f"P6\n{pixels.width} {pixels.height}\n255\n".encode()
    return hashlib.sha256(header + pixels.tobytes()).hexdigest()


def foreign_files(stored: Stored) -> list[Path]:
    """What lies in a chain's folder without belonging there; hidden and unfinished files are nobody's."""
    own = {"chain.json", "steps.jsonl", "done.json", "reference.png"}
    numbers = {f"{number:04d}" for number in range(stored.steps + 1)}
    return [
        path
        for path in sorted(stored.folder.iterdir())
        if path.name not in own and path.stem not in numbers and path.suffix != ".part" and path.name[0] != "."
    ]


def read_json(path: Path, missing: str) -> dict[str, Any]:
    try:
        values = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(missing) from None
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error}); restore it") from error
    if not isinstance(values, dict):
        raise UserError(f"{path} holds {type(values).__name__} where an object is expected; restore it")
    return values


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} is missing; restore it, or remove its chain's folder and generate again") from None
