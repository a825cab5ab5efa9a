"""Writes chains made elsewhere into a chain store, their bytes unchanged.

A layout finds the chains. Whatever cannot be read is listed as a problem,
and a chain ends at its first unreadable answer, as if its editor had failed
there. Answers that were never published are gaps, which are not measured.
"""

import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.generation.files import disk_errors_explained, file_name, locked, refuse_links, write_whole
from convergebench.generation.pictures import Undecodable, decode, encode_png
from convergebench.generation.records import (
    GOES_ON,
    PICTURED,
    UNKNOWN,
    Chain,
    Program,
    Setting,
    Source,
    Step,
    UserError,
    canonical,
    check_fields,
)
from convergebench.generation.store import ChainWriter, keep_source, open_run, remove_chain
from convergebench.generation.store_reader import find_finished

_MOST_BYTES = 2**27  # of one picture's file
MOST_ANSWERS = 100_000  # of one chain
# Things that cover a few thousandths of a picture, such as those the catalogue's small programs show.
_SMALL = re.compile(
    r"\b(?:sun)?glasses\b(?! of)|\b(?:spectacles|monocle|earrings?|necklaces?|pendant|bracelets?|wristwatch|brooch)\b"
    r"|\b(?:an?|the|her|his) (?:watch|ring|badge|button|piercing|hair ?(?:clip|pin)|bow[ -]?tie)\b"
    r"|\bm(?:o)?ustache\b|\bfreckles\b|\bflower (?:in|to) (?:the|her|his) hair\b",
    re.IGNORECASE,
)
_RIGHTS = {"origin": "real", "licence": UNKNOWN, "attribution": UNKNOWN}
_RUN = {"suite": "imported", "suite_version": "1", "short_side": None}


# An answer, its place for messages, and its picture if there is one.
FoundAnswer = tuple[Step, str, Path | bytes | None]


@dataclass(frozen=True)
class FoundChain:
    case: str  # its name in the imported data
    source: str  # name of the starting picture
    picture: Path | bytes
    where: str
    program: Program
    editor: str
    answers: tuple[FoundAnswer, ...]
    kind: str
    run: int = 1
    settings: dict[str, Setting] = field(default_factory=dict)
    reference: Path | bytes | None = None  # what a finished round should equal, if that is another picture
    known_source: Source | None = None  # if the picture is one of a suite's
    scene: str = ""
    degradation: str = ""


class Problem(NamedTuple):
    """What could not be imported; as a note, what a reader should know about the import."""

    where: str
    reason: str
    is_note: bool = False


Findings = Iterator[FoundChain | Problem]  # what a layout yields


@dataclass
class Imported:
    written: list[str] = field(default_factory=list)
    already_there: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)  # imported before with the same answers under other words
    problems: list[Problem] = field(default_factory=list)


def find_pictures(folder: Path) -> dict[str, Path]:
    check_folder(folder, "it must hold pictures such as NAME.png")
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    return {path.stem: path for path in files if not path.name.startswith(".")}


def check_folder(folder: Path, advice: str) -> None:
    """Raise unless it is a folder, without links that could lead out of it."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; {advice}")
    refuse_links(folder)


def import_chains(
    findings: Iterable[FoundChain | Problem],
    out: Path,
    rights: Mapping[str, str] | None = None,
    originals: Mapping[str, Path] | None = None,
) -> Imported:
    """Write what a layout found; chains that are there already stay.

    A chain with the same answers under other words is replaced. `originals` has one picture for each
    source, so that editors that were given it in different encodings share step 0, and so share the case.
    """
    imported = Imported()
    open_run(out, _RUN)
    with disk_errors_explained(out), locked(out):
        ids = {_answers_key(chain.chain): chain.id for chain in find_finished([out]).done.values()}
        for finding in findings:
            if isinstance(finding, FoundChain) and originals is not None:
                finding = _with_original(finding, originals)
            if isinstance(finding, Problem):
                imported.problems.append(finding)
            elif chain := _import_chain(finding, out, rights or {}, imported):
                key = _answers_key(chain)
                if ids.setdefault(key, chain.id) != chain.id:
                    remove_chain(out, ids[key])
                    imported.replaced.append(ids[key])
                ids[key] = chain.id
    return imported


def _with_original(chain: FoundChain, originals: Mapping[str, Path]) -> FoundChain | Problem:
    if chain.source in originals:
        return replace(chain, picture=originals[chain.source])
    names = ", ".join(originals) or "none"
    return Problem(chain.where, f"there is no original {chain.source!r}; the originals are {names}")


def import_into_run(
    findings: Findings, name: str, out: Path | None, originals: Path | None, rights: Mapping[str, str]
) -> tuple[Path, Imported]:
    """Import chains into a run, by default runs/NAME; the run."""
    run = out or Path("runs") / file_name(name)
    return run, import_chains(findings, run, rights, find_pictures(originals) if originals else None)


def _answers_key(chain: Chain) -> str:
    place = [chain.settings.get(name) for name in ("imported", "case", "content")]
    return canonical([chain.editor, chain.source.sha256, chain.run, *place])


def _import_chain(finding: FoundChain, out: Path, rights: Mapping[str, str], imported: Imported) -> Chain | None:
    try:
        data = _read_bytes(finding.picture)
        picture = decode(data)
        clean = None if finding.reference is None else _read_bytes(finding.reference)
        reference = None if clean is None else decode(clean)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in a path
        imported.problems.append(Problem(finding.where, f"the source cannot be read: {_reason_text(error)}"))
        return None
    source = finding.known_source or _source_of(finding, data, picture.size, rights)
    if clean is not None and not source.reference:
        source = replace(source, reference=sha256(clean).hexdigest())
    short_side = min(picture.width, picture.height)
    with ChainWriter.draft(out) as writer:
        if reference is not None:
            write_whole(writer.folder / "reference.png", encode_png(reference))
        writer.append(Step(0, 0, 0, "", "input"), data, (picture.width, picture.height))
        short_side = _write_answers(finding, writer, short_side, imported)
        content = sha256(canonical([step.sha256 for step in writer.steps]).encode()).hexdigest()[:16]
        settings = {"short_side": short_side, **finding.settings, "case": finding.case, "content": content}
        rounds = max((answer.round for answer, *_ in finding.answers), default=1)
        chain = Chain(source, finding.program, finding.editor, settings, finding.run, rounds)
        keep_source(out, source.sha256, data)
        if clean is not None and source.reference:
            keep_source(out, source.reference, clean)
        is_new = writer.finish_draft(chain)
    (imported.written if is_new else imported.already_there).append(chain.id)
    return chain


def _source_of(finding: FoundChain, data: bytes, size: tuple[int, int], rights: Mapping[str, str]) -> Source:
    digest = sha256(data).hexdigest()
    return Source(
        id=f"{finding.source}-{digest[:8]}",  # two pictures of one name stay two sources
        sha256=digest,
        width=size[0],
        height=size[1],
        kind=finding.kind,
        title=finding.source,
        scene=finding.scene,
        degradation=finding.degradation,
        **{**_RIGHTS, **rights},
    )


def _write_answers(finding: FoundChain, writer: ChainWriter, short_side: int, imported: Imported) -> int:
    """Write the answers; the short side to judge them at."""
    first_side = 0  # of the first answer, which shows what the editor's size is
    for number, (answer, where, picture) in enumerate(finding.answers, 1):
        step, data = replace(answer, step=number), b""
        size: tuple[int, int] | None = None
        try:
            if picture is not None:
                data = _read_bytes(picture)
                size = decode(data).size
                first_side = first_side or min(size)
                if step.status == "ok" and 2 * min(size) < min(short_side, first_side):
                    step = replace(step, status="shrunk")
            elif step.status in PICTURED:
                raise FileNotFoundError
        except (OSError, ValueError) as error:
            step, data, size = replace(step, status="failed", reason=_reason_text(error)), b"", None
            imported.problems.append(Problem(where, _reason_text(error)))
        step = writer.append(step, data, size)
        if step.status not in GOES_ON:
            if remaining := len(finding.answers) - number:
                reason = f"{remaining} answers after step {number} ({step.status}) are left out"
                imported.problems.append(Problem(finding.where, reason))
            break
    notes = []
    if gaps := sum(step.status == "unpublished" for step in writer.steps):
        notes.append(f"{gaps} of {len(finding.answers)} answers are not published; those steps are not measured")
    if is_small := 0 < 2 * first_side < short_side:
        sides = f"answers have a short side of {first_side} pixels, the source {short_side}"
        notes.append(f"{sides}; judged at {first_side}")
    imported.problems += [Problem(finding.where, note, is_note=True) for note in notes]
    return first_side if is_small else short_side


def _read_bytes(data: Path | bytes) -> bytes:
    """The bytes of a regular file; a device or a pipe might never end."""
    if isinstance(data, bytes):
        return data
    status = data.stat()
    if not stat.S_ISREG(status.st_mode):
        raise Undecodable("not an ordinary file")
    if status.st_size > _MOST_BYTES:
        raise Undecodable(f"a file of {status.st_size:,} bytes; at most {_MOST_BYTES:,} are read")
    return data.read_bytes()


def _reason_text(error: Exception) -> str:
    return "the file is missing" if isinstance(error, FileNotFoundError) else str(error)


def imported_program(
    name: str, cycle: Sequence[str], metadata: Mapping[str, Any], closes: bool = True
) -> Program:
    is_small = any(_SMALL.search(words) for words in cycle)
    values: dict[str, Any] = {"category": "imported", "reversibility": "clear", "small": is_small}
    values |= {
        key: metadata[key] for key in ("category", "reversibility", "reason", "shows", "small") if key in metadata
    }
    check_fields(f"program {name!r}", {**values, "id": name, "cycle": cycle}, Program)
    return Program(id=name, cycle=tuple(cycle), closes=closes, **values)


# One edit of a series: its name and words, its place for messages, its picture.
_Turn = tuple[str, str, str, Path | bytes | None]


def chain_of_turns(
    layout: str,
    case: str,
    source: str,
    picture: Path | bytes,
    turns: Sequence[_Turn],
    editor: str,
    kind: str | None,
) -> FoundChain:
    """Edits on top of each other: one round, which does not close. The caller replaces what differs."""
    answers = [
        (Step(0, 1, position, words, "unpublished" if answer is None else "ok"), where, answer)
        for position, (_, words, where, answer) in enumerate(turns, 1)
    ]
    cycle = [words or f"[{name}; the words were not recorded]" for name, words, *_ in turns]
    return FoundChain(
        case=case,
        source=source,
        picture=picture,
        where=answers[0][1],
        program=imported_program(source, cycle, {}, False),
        editor=editor,
        answers=tuple(answers),
        kind=kind or "object",
        settings={"imported": layout},
    )
