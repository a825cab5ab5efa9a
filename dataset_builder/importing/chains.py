"""Chains made elsewhere become chains here: a chain store with their bytes as they are, and ids from their content.

A layout says what there is; this says what becomes of it. What cannot be read is listed, and a chain ends where it
stops being readable, as one whose editor failed there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.pictures import PictureInfo, Undecodable, inspect
from convergebench.generation.records import KINDS, Chain, Program, Setting, Source, Step, UserError, canonical
from convergebench.generation.store import ChainWriter, keep_source, open_run

ABOUT = {"suite": "imported", "suite_version": "1", "short_side": None}


@dataclass(frozen=True)
class Call:
    """One answer as a layout found it: where it lies, or why there is none."""

    round: int
    position: int
    instruction: str
    where: str  # for messages: a path or a row and column
    data: Path | bytes | None = None
    status: str = "ok"  # refused, no_image or failed where the layout says so
    more: dict[str, Any] = field(default_factory=dict)  # seed, latency, cost, text, reason


@dataclass(frozen=True)
class Given:
    """One chain as a layout found it."""

    case: str  # as it is called where it comes from
    source: str  # name of the starting picture
    picture: Path | bytes
    where: str
    program: Program
    editor: str
    calls: tuple[Call, ...]
    kind: str
    run: int = 1
    settings: dict[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem:
    """Something that could not be imported, or not whole."""

    where: str
    reason: str


Found = Iterator[Given | Problem]  # what a layout yields


@dataclass
class Imported:
    """What came of an import."""

    made: list[str] = field(default_factory=list)  # ids of the chains written
    already: list[str] = field(default_factory=list)  # ids of the chains that were there
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class Owner:
    """What is said of every source of an import."""

    origin: str = "real"
    licence: str = "unknown"
    attribution: str = "unknown"


def import_chains(
    found: Iterable[Given | Problem],
    out: Path,
    owner: Owner | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Imported:
    """Write what a layout found into a chain store; what is there already is left as it is."""
    imported = Imported()
    open_run(out, ABOUT)
    with disk_errors_explained(out), locked(out):
        for one in found:
            if isinstance(one, Problem):
                imported.problems.append(one)
            else:
                import_chain(one, out, owner or Owner(), imported)
            progress()
    return imported


def import_chain(given: Given, out: Path, owner: Owner, imported: Imported) -> None:
    """Write one chain whole, under a name that other content would not have."""
    try:
        data = read(given.picture)
        picture = inspect(data)
    except (OSError, Undecodable) as error:
        imported.problems.append(Problem(given.where, f"the source cannot be read: {reason(error)}"))
        return
    source = describe(given, data, picture, owner)
    with ChainWriter.draft(out) as writer:
        write_steps(given, writer, data, picture, imported)
        content = sha256(canonical([step.sha256 for step in writer.steps]).encode()).hexdigest()[:16]
        settings = {
            **given.settings,
            "short_side": min(picture.width, picture.height),
            "case": given.case,
            "content": content,
        }
        rounds = max((call.round for call in given.calls), default=1)
        chain = Chain(source, given.program, given.editor, settings, given.run, rounds)
        last = writer.steps[-1].status
        keep_source(out, source.sha256, data)
        new = writer.finish_draft(chain, "complete" if last in ("input", "ok") else last)
    (imported.made if new else imported.already).append(chain.id)


def describe(given: Given, data: bytes, picture: PictureInfo, owner: Owner) -> Source:
    """The source, named by its name and its content: two different pictures of one name stay two."""
    digest = sha256(data).hexdigest()
    return Source(
        id=f"{given.source}-{digest[:8]}",
        sha256=digest,
        width=picture.width,
        height=picture.height,
        kind=given.kind,
        origin=owner.origin,
        licence=owner.licence,
        attribution=owner.attribution,
        title=given.source,
    )


def write_steps(given: Given, writer: ChainWriter, source: bytes, picture: PictureInfo, imported: Imported) -> None:
    """Write the source as step 0 and every answer after it, up to the first that is no whole picture or too small."""
    writer.append(Step(0, 0, 0, "", "input"), source, (picture.width, picture.height))
    for number, call in enumerate(given.calls, 1):
        step = Step(number, call.round, call.position, call.instruction, call.status, **call.more)
        data, size = b"", None
        try:
            if call.status == "ok" and call.data is None:
                raise FileNotFoundError
            if call.data is not None:
                data = read(call.data)
                _, width, height = inspect(data)
                size = width, height
                if call.status == "ok" and 2 * min(size) < min(picture.width, picture.height):
                    step = replace(step, status="shrunk")
        except (OSError, Undecodable) as error:
            step, data, size = replace(step, status="failed", reason=reason(error)), b"", None
            imported.problems.append(Problem(call.where, reason(error)))
        step = writer.append(step, data, size)
        if step.status != "ok":
            left = len(given.calls) - number
            if left:
                imported.problems.append(
                    Problem(given.where, f"{left} answers after step {number} ({step.status}) are left out")
                )
            break


def read(data: Path | bytes) -> bytes:
    return data if isinstance(data, bytes) else data.read_bytes()


def reason(error: Exception) -> str:
    return "the file is missing" if isinstance(error, FileNotFoundError) else str(error)


def program(name: str, cycle: Sequence[str], about: Mapping[str, Any], closes: bool = True) -> Program:
    """A program as far as the import knows it."""
    return Program(
        id=name,
        cycle=tuple(cycle),
        category=about.get("category", "imported"),
        closes=closes,
        reversibility=about.get("reversibility", "clear"),
        reason=about.get("reason", ""),
        shows=about.get("shows", ""),
        small=bool(about.get("small", False)),
    )


def one_kind(kind: str) -> str:
    if kind not in KINDS:
        raise UserError(f"no kind {kind!r}; it is one of {', '.join(KINDS)}")
    return kind
