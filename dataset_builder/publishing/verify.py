"""Checks a dataset or a run against its own hashes, counts and references: what is broken, and what depends on it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from convergebench.generation.files import locked
from convergebench.generation.records import UserError
from convergebench.generation.store_reader import (
    LEDGER,
    check_unfinished,
    files_of_run,
    read_chain,
    read_picture,
    read_reference,
    read_source,
    read_steps,
)

from ..building.metric_folders import changed_files
from ..dataset import manifest
from ..dataset.columns import Config
from ..dataset.damage import check_file
from ..dataset.reader import Reader
from ..dataset.rows import STEPS, configs
from ..dataset.schema import hash_file
from . import checks

SET_ASIDE = ".set-aside"
# The first is written with every change, without the second nothing is a run, and money is for a person to count.
STAY = ("README.md", "run.json", LEDGER)
Told = Callable[[str], None]


class Finding(NamedTuple):
    """Something that is broken."""

    path: str  # inside the folder
    what: str
    depends: str

    @property
    def sentence(self) -> str:
        return f"{self.path}: {self.what}; on it depend {self.depends}"


def verify(folder: Path, progress: Told = lambda file: None) -> list[Finding]:
    """Everything that is broken in a dataset or a run."""
    if (folder / "run.json").exists() or (folder / "chains").is_dir():
        return list(verify_run(folder, progress))
    if not (folder / "data").is_dir():
        raise UserError(f"{folder} is neither a run nor a dataset: there is no run.json and no data folder in it")
    return list(verify_dataset(folder, progress))


def verify_run(run: Path, progress: Told) -> Iterator[Finding]:
    """What the run is of, what it cost, and each chain that is not what its own records say, finished or not."""
    for file, read, depends in files_of_run(run):
        try:
            read()
        except (UserError, OSError) as error:
            yield Finding(file, str(error), depends)
    for folder in sorted((run / "chains").glob("[!.]*")):
        try:
            if (folder / "done.json").exists():
                verify_chain(folder)
            elif folder.is_dir():
                check_unfinished(folder)
        except (UserError, OSError) as error:
            yield Finding(f"chains/{folder.name}", str(error), "the datasets that are built from it")
        progress(folder.name)


def verify_chain(folder: Path) -> None:
    """Read all that belongs to a finished chain; raises UserError where something is broken."""
    chain = read_chain(folder, "", "")
    for step in read_steps(chain):
        read_picture(chain, step)
    read_reference(chain)
    read_source(chain)


def verify_dataset(folder: Path, progress: Told) -> Iterator[Finding]:
    """Each file that is missing or not what was written, and each row that belongs to none."""
    reader = Reader(folder)
    there = [file for config in reader.configs() for file in reader.files(config)]
    written, _ = manifest.read(folder)
    for file in sorted(written.keys() - {*there}):
        if not (folder / file).exists():
            yield finding(file, "it is missing")
    damaged = set()
    for file in there:
        try:
            check_file(reader, file)
            digest = hash_file(folder / file)
            if file in written and digest != written[file].get("sha256", digest):
                raise UserError("it is not the file that was written: its sha256 differs")
        except (UserError, OSError) as error:
            damaged.add(file.split("/")[1])
            yield finding(file, str(error))
        progress(file)
    for file in changed_files(folder):
        yield Finding(file, "it is not the file that was written", "what evaluate.load computes beside the dataset")
    if not damaged and {"steps", "chains", "sources"} <= {*reader.configs()}:
        yield from verify_references(reader)
        try:
            checks.check_card(folder, reader)
        except (UserError, OSError) as error:
            yield Finding("README.md", str(error), "what load_dataset takes from its cache")


def verify_references(reader: Reader) -> Iterator[Finding]:
    """Chains with all their steps and their source, scores and floors of what is there."""
    chains = {chain.id: chain for chain in reader.chains()}
    sources = set(reader.sources())
    counts: dict[str, int] = dict.fromkeys(chains, 0)
    for placed in reader.all_steps():
        if placed.chain not in chains:
            yield finding(
                placed.place.file, f"step {placed.step.step} belongs to chain {placed.chain}, which is not there"
            )
        counts[placed.chain] = counts.get(placed.chain, 0) + 1
    for chain in chains.values():
        if counts[chain.id] != chain.calls + 1:
            what = f"chain {chain.id} has {counts[chain.id]} steps instead of {chain.calls + 1}"
            yield Finding("data/steps", what, STEPS.depends)
        if chain.source.id not in sources:
            yield Finding("data/chains", f"chain {chain.id} has the source {chain.source.id}, which is not there", "it")
    for config, column, known in (("scores", "chain", set(chains)), ("floors", "source", sources)):
        if reader.files(config):
            depends = configs()[config].depends
            for name in sorted({*reader.table(config, [column])[column].to_pylist()} - known):
                yield Finding(f"data/{config}", f"it has rows of {column} {name}, which is not there", depends)


def finding(file: str, what: str) -> Finding:
    table = configs().get(file.split("/")[1] if "/" in file else "", Config(""))
    return Finding(file, what, table.depends)


def set_aside(folder: Path, findings: list[Finding]) -> list[str]:
    """Move what is broken out of the way, so that the command that made it makes it anew; nothing is deleted."""
    moved = []
    with locked(folder):
        for path in dict.fromkeys(finding.path for finding in findings):
            whole_chain = path.startswith("chains/")
            if not ((folder / path).is_file() or whole_chain) or path in STAY or not (folder / path).exists():
                continue
            number = 1
            while (folder / SET_ASIDE / str(number) / path).exists():
                number += 1
            target = folder / SET_ASIDE / str(number) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            (folder / path).replace(target)
            moved.append(path)
    return moved
