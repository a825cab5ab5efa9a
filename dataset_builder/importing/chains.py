"""Writes chains made elsewhere into a chain store: their bytes as they are, under ids from their content.

A layout finds the chains. What cannot be read is listed, and a chain ends at its first unreadable answer, as if its
editor had failed there.
"""

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.pictures import PictureInfo, Undecodable, decode, inspect
from convergebench.generation.records import (
    KINDS,
    PICTURED,
    Chain,
    Program,
    Setting,
    Source,
    Step,
    UserError,
    canonical,
    check_types,
)
from convergebench.generation.store import ChainWriter, keep_source, open_run, remove_chain
from convergebench.generation.store_reader import find_finished
from PIL import Image

MOST_BYTES = 2**27  # of one picture's file
MOST_ANSWERS = 100_000  # of one chain
# What the small programs of the catalogue show, and the like: it covers a few thousandths of a picture.
SMALL = re.compile(
    r"\b(?:sun)?glasses\b(?! of)|\b(?:spectacles|monocle|earrings?|necklaces?|pendant|bracelets?|wristwatch|brooch)\b"
    r"|\b(?:an?|the|her|his) (?:watch|ring|badge|button|piercing|hair ?(?:clip|pin)|bow[ -]?tie)\b"
    r"|\bm(?:o)?ustache\b|\bfreckles\b|\bflower (?:in|to) (?:the|her|his) hair\b",
    re.IGNORECASE,
)
ABOUT = {"suite": "imported", "suite_version": "1", "short_side": None}


@dataclass(frozen=True)
class FoundAnswer:
    """One answer as a layout found it: where it lies, or why there is none."""

    round: int
    position: int
    instruction: str
    where: str  # for messages: a path or a row and column
    data: Path | bytes | None = None
    status: str = "ok"  # refused, no_image or failed where the layout says so
    more: dict[str, Any] = field(default_factory=dict)  # seed, latency, cost, text, reason


@dataclass(frozen=True)
class FoundChain:
    """One chain as a layout found it."""

    case: str  # its name where it was made
    source: str  # name of the starting picture
    picture: Path | bytes
    where: str
    program: Program
    editor: str
    answers: tuple[FoundAnswer, ...]
    kind: str
    run: int = 1
    settings: dict[str, Setting] = field(default_factory=dict)
    reference: Path | bytes | None = None  # what a finished round should equal, where that is another picture
    known_source: Source | None = None  # where the picture is one of a suite's
    scene: str = ""
    degradation: str = ""


@dataclass(frozen=True)
class Problem:
    """Something that could not be imported, or not whole; a stray is no part of any case, so that nothing is lost."""

    where: str
    reason: str
    is_stray: bool = False


Findings = Iterator[FoundChain | Problem]  # what a layout yields


@dataclass
class Imported:
    """What an import did."""

    written: list[str] = field(default_factory=list)
    already_there: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)  # the same answers under other words, imported before
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class SourceRights:
    """Where the sources of an import come from, and who has the rights."""

    origin: str = "real"
    licence: str = "unknown"
    attribution: str = "unknown"


def find_originals(folder: Path) -> dict[str, Path]:
    """The pictures of a folder by their names without ending: the one step 0 of all who edited that picture."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; it holds the pictures that chains begin at, such as NAME.png")
    return {path.stem: path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".")}


def import_chains(
    findings: Iterable[FoundChain | Problem],
    out: Path,
    rights: SourceRights | None = None,
    originals: Mapping[str, Path] | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Imported:
    """Write what a layout found into a chain store; chains that are there already stay as they are.

    The same answers under other words take the place of the chain that was there. `originals` names a picture for each
    source: editors that were given it in different encodings then have one step 0, and so one case.
    """
    imported = Imported()
    open_run(out, ABOUT)
    with disk_errors_explained(out), locked(out):
        before = chains_by_answers(out)
        for finding in findings:
            if isinstance(finding, Problem):
                imported.problems.append(finding)
            elif originals is not None and finding.source not in originals:
                reason = f"there is no original {finding.source!r}; the originals are {', '.join(originals) or 'none'}"
                imported.problems.append(Problem(finding.where, reason))
            else:
                found = finding if originals is None else replace(finding, picture=originals[finding.source])
                import_chain(found, out, rights or SourceRights(), imported, before)
            progress()
    return imported


def answers_key(chain: Chain) -> str:
    """Names what was answered, whatever the words were: equal for two imports of the same pictures."""
    place = [chain.settings.get(name) for name in ("imported", "case", "content")]
    return canonical([chain.editor, chain.source.sha256, chain.run, *place])


def chains_by_answers(out: Path) -> dict[str, str]:
    """The ids of the chains that are there by what was answered."""
    return {answers_key(each.chain): each.id for each in find_finished([out]).done.values()}


def import_chain(
    found: FoundChain, out: Path, rights: SourceRights, imported: Imported, before: dict[str, str] | None = None
) -> None:
    """Write one chain whole, under an id that depends on its pictures; `before` are the chains that are there."""
    try:
        data = read_bytes(found.picture)
        picture = inspect(data)
        clean = None if found.reference is None else read_bytes(found.reference)
        reference = None if clean is None else decode(clean)
    except (OSError, ValueError) as error:  # a path with a zero byte is a ValueError, as is what cannot be decoded
        imported.problems.append(Problem(found.where, f"the source cannot be read: {reason_text(error)}"))
        return
    source = found.known_source or describe_source(found, data, picture, rights)
    if clean is not None and not source.reference:
        source = replace(source, reference=sha256(clean).hexdigest())
    with ChainWriter.draft(out) as writer:
        write_steps(found, writer, data, picture, imported, reference)
        content = sha256(canonical([step.sha256 for step in writer.steps]).encode()).hexdigest()[:16]
        settings = {
            "short_side": min(picture.width, picture.height),
            **found.settings,
            "case": found.case,
            "content": content,
        }
        rounds = max((answer.round for answer in found.answers), default=1)
        chain = Chain(source, found.program, found.editor, settings, found.run, rounds)
        last = writer.steps[-1].status
        keep_source(out, source.sha256, data)
        if clean is not None and source.reference:
            keep_source(out, source.reference, clean)
        new = writer.finish_draft(chain, "complete" if last in ("input", "ok") else last)
    (imported.written if new else imported.already_there).append(chain.id)
    earlier = {} if before is None else before
    if earlier.get(answers_key(chain), chain.id) != chain.id:
        imported.replaced.append(remove_chain(out, earlier[answers_key(chain)]))
    earlier[answers_key(chain)] = chain.id


def describe_source(found: FoundChain, data: bytes, picture: PictureInfo, rights: SourceRights) -> Source:
    """The source, under an id from its name and its content: two pictures of one name stay two sources."""
    digest = sha256(data).hexdigest()
    return Source(
        id=f"{found.source}-{digest[:8]}",
        sha256=digest,
        width=picture.width,
        height=picture.height,
        kind=found.kind,
        origin=rights.origin,
        licence=rights.licence,
        attribution=rights.attribution,
        title=found.source,
        scene=found.scene,
        degradation=found.degradation,
    )


def write_steps(
    found: FoundChain,
    writer: ChainWriter,
    source: bytes,
    picture: PictureInfo,
    imported: Imported,
    reference: Image.Image | None = None,
) -> None:
    """Write the source as step 0 and every answer after it, up to the first that is no whole picture or too small."""
    if reference is not None:
        writer.keep_reference(reference)
    writer.append(Step(0, 0, 0, "", "input"), source, (picture.width, picture.height))
    for number, answer in enumerate(found.answers, 1):
        step = Step(number, answer.round, answer.position, answer.instruction, answer.status, **answer.more)
        data, size = b"", None
        try:
            if answer.status in PICTURED and answer.data is None:
                raise FileNotFoundError
            if answer.data is not None:
                data = read_bytes(answer.data)
                _, width, height = inspect(data)
                size = width, height
                if answer.status == "ok" and 2 * min(size) < min(picture.width, picture.height):
                    step = replace(step, status="shrunk")
        except (OSError, ValueError) as error:
            step, data, size = replace(step, status="failed", reason=reason_text(error)), b"", None
            imported.problems.append(Problem(answer.where, reason_text(error)))
        step = writer.append(step, data, size)
        if step.status != "ok":
            left = len(found.answers) - number
            if left:
                imported.problems.append(
                    Problem(found.where, f"{left} answers after step {number} ({step.status}) are left out")
                )
            break


def read_bytes(data: Path | bytes) -> bytes:
    """The bytes of a picture, from an ordinary file of bearable size; a device or a pipe might never end."""
    if isinstance(data, bytes):
        return data
    about = data.stat()
    if not stat.S_ISREG(about.st_mode):
        raise Undecodable("no ordinary file")
    if about.st_size > MOST_BYTES:
        raise Undecodable(f"a file of {about.st_size:,} bytes; at most {MOST_BYTES:,} are read")
    return data.read_bytes()


def reason_text(error: Exception) -> str:
    return "the file is missing" if isinstance(error, FileNotFoundError) else str(error)


def is_small(cycle: Sequence[str]) -> bool:
    """Whether the words ask for something that covers little of a picture, such as glasses or earrings."""
    return any(SMALL.search(words) for words in cycle)


def imported_program(name: str, cycle: Sequence[str], about: Mapping[str, Any], closes: bool = True) -> Program:
    """A program as far as it is known; `about` may hold category, reversibility, reason, shows and small."""
    values: dict[str, Any] = {"category": "imported", "reversibility": "clear", "small": is_small(cycle)}
    values |= {key: about[key] for key in ("category", "reversibility", "reason", "shows", "small") if key in about}
    check_types(f"program {name!r}", Program, {**values, "id": name, "cycle": cycle})
    return Program(id=name, cycle=tuple(cycle), closes=closes, **values)


def checked_kind(kind: str) -> str:
    if kind not in KINDS:
        raise UserError(f"no kind {kind!r}; it is one of {', '.join(KINDS)}")
    return kind
