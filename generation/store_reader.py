"""Reads the finished chains of the chain store, after checking that its files agree with each other."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from .files import UNFINISHED
from .ledger import PLACE as LEDGER
from .ledger import Budget
from .pictures import Undecodable, has_hash
from .records import PICTURED, Chain, EditorInfo, FinishedChain, Step, UserError
from .store import (
    PLAN,
    Damaged,
    describe_end,
    parse_steps,
    read_answer,
    read_bytes,
    read_checked,
    read_json,
    read_plan,
    recover_steps,
)


@dataclass(frozen=True)
class StoredChain(FinishedChain):
    folder: Path
    digest: str  # sha256 of steps.jsonl, which names every picture's hash
    bytes: int  # of all its pictures


@dataclass
class FoundChains:
    done: dict[str, StoredChain] = field(default_factory=dict)
    editors: dict[str, EditorInfo] = field(default_factory=dict)  # by label, every editor of `done`
    unfinished: list[Path] = field(default_factory=list)
    foreign: list[Path] = field(default_factory=list)

    @property
    def steps(self) -> int:
        return sum(chain.calls + 1 for chain in self.done.values())


def find_finished(runs: Iterable[Path]) -> FoundChains:
    """Every finished chain of several runs; one in two of them must be the same."""
    chains = FoundChains()
    described: dict[str, EditorInfo] = {}
    planned: dict[str, set[str]] = defaultdict(set)
    for run in sorted(runs):
        missing = f"{run} holds no run.json; give the folder that `convergebench generate --out` made"
        description = read_checked(run / "run.json", missing)
        suite = [str(description.get(name, "")) for name in ("suite", "suite_version")]
        described |= _read_editors(run)
        for id, (label, _) in read_plan(run)["chains"].items():
            planned[label].add(id)
        for folder in sorted((run / "chains").glob("[!.]*")):
            if not folder.is_dir():
                chains.foreign.append(folder)
            elif not (folder / "done.json").exists():
                chains.unfinished.append(folder)
            else:
                chain = read_chain(folder, *suite)
                _add_chain(chains, chain)
                chains.foreign += _foreign_files(chain)
    for label in sorted({chain.editor for chain in chains.done.values()}):
        info = described.get(label) or EditorInfo(label.partition(":")[0])
        chains.editors[label] = replace(info, planned=len(planned[label]))
    return chains


def _read_editors(run: Path) -> dict[str, EditorInfo]:
    path = run / "editors.json"
    values = read_checked(path, f"{path} is missing; restore it, or give the command that made the run again")
    return {label: EditorInfo.from_dict(info) for label, info in values.items()}


def _add_chain(chains: FoundChains, chain: StoredChain) -> None:
    earlier = chains.done.get(chain.id)
    if earlier and (earlier.digest, earlier.chain) != (chain.digest, chain.chain):
        both = f"{earlier.folder} and in {chain.folder}"
        raise UserError(f"chain {chain.id} is in {both} with different content; build from one of the two")
    if not earlier or (chain.suite, chain.suite_version) < (earlier.suite, earlier.suite_version):
        chains.done[chain.id] = chain


def _foreign_files(chain: StoredChain) -> list[Path]:
    names = {"chain.json", "steps.jsonl", "done.json", "reference.png"}
    numbers = {f"{number:04d}" for number in range(chain.calls + 1)}
    paths = sorted(chain.folder.glob("[!.]*"))
    return [
        path
        for path in paths
        if path.name not in names and path.stem not in numbers and path.suffix != UNFINISHED
    ]


# --- chains


def read_chain(folder: Path, suite: str, suite_version: str) -> StoredChain:
    done, chain = read_json(folder / "done.json"), _read_description(folder)
    path = folder / "steps.jsonl"
    data = read_bytes(path)
    steps = parse_steps(path, data, chain)
    if not steps:
        raise Damaged(f"{path} is empty; restore it or generate the chain again")
    for name, value in describe_end(folder, steps, data).items():
        if done.get(name, "") != value:  # one bit of a name makes it another, and its value may be None
            place = "chain.json" if name == "chain" else "steps"
            said = f"{str(done.get(name, ''))[:12]!r}, not {str(value)[:12]!r}"
            raise Damaged(f"{folder / 'done.json'} has another {name} than the {place} ({said}); restore them")
    costs = [step.cost for step in steps if step.cost is not None]
    return StoredChain(
        id=chain.id,
        chain=chain,
        suite=suite,
        suite_version=suite_version,
        status=str(done["status"]),
        calls=len(steps) - 1,
        cost=sum(costs) if costs else None,
        folder=folder,
        digest=str(done["sha256"]),
        bytes=sum(step.bytes or 0 for step in steps),
    )


def _read_description(folder: Path) -> Chain:
    path = folder / "chain.json"
    values = read_json(path, f"{folder} has no chain.json; restore it or remove the folder")
    try:
        chain = Chain.from_dict(values)
        described = chain.id
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, UserError) as error:
        raise Damaged(f"{folder} holds no readable chain ({error}); restore it or remove the folder") from error
    if described != folder.name:
        raise Damaged(f"{path} describes chain {described}; restore it or remove the folder")
    return chain


def check_unfinished(folder: Path) -> None:
    """Raise Damaged if an unfinished chain cannot be resumed; writes nothing."""
    is_begun = (folder / "chain.json").exists() or (folder / "steps.jsonl").exists()
    for step in recover_steps(folder, _read_description(folder) if is_begun else None, truncate=False):
        if step.file:
            read_answer(folder, step)


def read_steps(chain: StoredChain) -> list[Step]:
    path = chain.folder / "steps.jsonl"
    data = read_bytes(path)
    if hashlib.sha256(data).hexdigest() != chain.digest:
        advice = "restore it or generate the chain again"
        raise Damaged(f"{path} is not the file that done.json was written for; {advice}")
    return parse_steps(path, data)


# --- pictures


def read_picture(chain: StoredChain, step: Step) -> bytes | None:
    """The bytes as received, checked against the record; None if the step has no picture."""
    return read_answer(chain.folder, step) if step.status in PICTURED else None


def read_reference(chain: StoredChain) -> bytes | None:
    path = chain.folder / "reference.png"
    return read_bytes(path) if chain.source.reference is not None or path.exists() else None


def reference_size(chain: StoredChain) -> int:
    path = chain.folder / "reference.png"
    return path.stat().st_size if path.exists() else 0


def source_size(chain: StoredChain) -> int:
    return _source_path(chain.folder.parents[1], chain.source.sha256).stat().st_size


def read_source(chain: StoredChain) -> tuple[str, bytes]:
    return read_source_file(chain.folder.parents[1], chain.source.sha256)


def read_source_file(run: Path, sha256: str) -> tuple[str, bytes]:
    """A source's own file: its name and its bytes, checked against that name."""
    path = _source_path(run, sha256)
    data = read_bytes(path)
    try:
        if not has_hash(data, sha256):
            raise Damaged(f"{path} is not the picture its name says (sha256 differs); restore it")
    except Undecodable as error:
        raise Damaged(f"{path} is not a readable picture ({error}); restore it") from error
    return path.name, data


def _source_path(run: Path, sha256: str) -> Path:
    for path in sorted((run / "sources").glob(f"{sha256}.*")):
        if path.suffix != UNFINISHED:
            return path
    raise Damaged(f"{run / 'sources'} lacks the file of source {sha256[:12]}...; restore it")


def files_of_run(run: Path) -> Iterator[tuple[str, Callable[[], object], str]]:
    """The files that belong to no chain: name, function that reads it, what depends on it."""
    yield "run.json", partial(read_checked, run / "run.json"), "all its chains"
    yield "editors.json", partial(_read_editors, run), "all its chains"
    if (run / PLAN).exists():  # chains that were made elsewhere have no plan
        yield PLAN, partial(read_plan, run), "what status counts"
    yield LEDGER, partial(Budget, run=run, check_only=True), "what the run may still spend"
    for path in sorted((run / "sources").glob(f"{'[0-9a-f]' * 64}.*")):  # other names are foreign files
        yield f"sources/{path.name}", partial(read_source_file, run, path.stem), "the chains that begin at it"
