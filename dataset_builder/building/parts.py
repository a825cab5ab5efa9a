"""Building in parts: each part writes some of the dataset's files into the draft; `build` then puts them in place."""

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from convergebench.generation import transfer
from convergebench.generation.cluster import Launch, Stage, remove_logs, run_stages
from convergebench.generation.files import LOCK, UNFINISHED, disk_errors_explained, locked, write_whole
from convergebench.generation.records import UserError, canonical
from convergebench.generation.store_reader import FoundChains, find_finished, read_chain, run_of, source_path
from convergebench.generation.transfer import Transfer, arriving

from ..dataset.rows import CHAINS, SOURCES, STEPS, configs
from . import build
from .build import DRAFT, Built, PlannedFile, write_file
from .metric_folders import copy_metric_folders

_PLAN = "plan.json"  # in the draft: each task's files, and the folders of their chains
_FILE = "file.json"  # in an archive for a job: the same for one file
# The files of a chain that every row is made from; `steps` also need the pictures, `chains` the reference.
_TEXT_FILES = {"chain.json", "steps.jsonl", "done.json", ".retried.jsonl"}
_Entry = tuple[str, str, list[tuple[str, str, str]]]  # a file, its config, and each chain's folder, suite and version


def share(files: Sequence[PlannedFile], rank: int, size: int) -> list[PlannedFile]:
    """The files that one part writes: the largest are dealt first, each to the part with the least so far."""

    def weight(planned: PlannedFile) -> int:
        return sum(chain.bytes for chain in planned.chains) if planned.config is STEPS else len(planned.chains)

    loads, files_of_part = [0] * size, []
    for planned in sorted(files, key=lambda planned: (-weight(planned), planned.file)):
        least = loads.index(min(loads))
        loads[least] += weight(planned)
        files_of_part += [planned] if least == rank else []
    return files_of_part


def plan_of(found: FoundChains) -> list[PlannedFile]:
    """Every file of the dataset."""
    if not found.done:
        raise UserError("no chain is done in the runs given; `convergebench generate` finishes them")
    chains = sorted(found.done.values(), key=lambda chain: chain.order)
    return build.plan_files(chains, build.one_chain_per_source(chains))


def write_part(files: Sequence[PlannedFile], out: Path, rights: Mapping[str, str]) -> Built:
    """Write these files into the draft unless they are there already."""
    with disk_errors_explained(out):
        for planned in files:
            write_file(out / DRAFT, planned, lambda: None, rights)
    return _built_so_far(out, files, "part")


def files_so_far(out: Path) -> tuple[int, int | None] | None:
    """How many files of a dataset wait in the draft, and how many are planned if tasks write them.

    None if nobody is building.
    """
    if not (out / DRAFT).is_dir():
        return None
    planned = None
    with contextlib.suppress(FileNotFoundError, ValueError):
        planned = sum(len(entries) for entries in json.loads((out / DRAFT / _PLAN).read_bytes()))
    return len(list((out / DRAFT).rglob("*.parquet.json"))), planned


def _built_so_far(out: Path, files: Sequence[PlannedFile], state: str) -> Built:
    chains = [chain for planned in files if planned.config is STEPS for chain in planned.chains]
    size = sum(path.stat().st_size for path in (out / DRAFT / planned.file for planned in files) if path.exists())
    return Built(out, len(chains), sum(chain.calls + 1 for chain in chains), 0, len(files), size, (), (), 0, state)


def _entry(planned: PlannedFile, folders: Sequence[str]) -> _Entry:
    places = zip(folders, planned.chains, strict=True)
    return planned.file, planned.config.name, [(folder, one.suite, one.suite_version) for folder, one in places]


def _planned_file(entry: _Entry, root: Path) -> PlannedFile:
    file, config, places = entry
    return PlannedFile(configs()[config], file, tuple(read_chain(root / folder, *suite) for folder, *suite in places))


def _work(rank: int, size: int, out: str, rights: Mapping[str, str]) -> None:
    """One task: it reads the chains of its own files only."""
    entries = json.loads((Path(out) / DRAFT / _PLAN).read_bytes())[rank]
    write_part([_planned_file(entry, Path("/")) for entry in entries], Path(out), rights)


def work_of_job(rank: int, size: int, place: str, rights: Mapping[str, str], folder: Path) -> None:
    """One task on another machine, which is sent the chains of one file at a time."""
    for name in transfer.archives(place, rank):
        with tempfile.TemporaryDirectory(prefix="convergebench-") as inputs:
            transfer.unpack(place, name, Path(inputs))
            write_part([_planned_file(json.loads((Path(inputs) / _FILE).read_bytes()), Path(inputs))], folder, rights)


def written_files(folder: Path) -> list[Path]:
    """The files that a job has finished, each before the record that it is whole."""
    records = sorted((folder / DRAFT).rglob("*.parquet.json"))
    return [path for record in records for path in (record.with_suffix(""), record)]


def send_chains(shares: Sequence[Sequence[PlannedFile]], place: str) -> None:
    """Send each job the inputs of its files, one archive per file. The last one there may be torn: it is sent again."""
    files = {f"{rank:05d}/{number:06d}.tar": one for rank, own in enumerate(shares) for number, one in enumerate(own)}
    sent = [name for name in transfer.archives(place) if name in files]
    for name in [name for name in files if name not in sent[:-1]]:
        transfer.send(place, name, _inputs_of(files[name]))


def _inputs_of(planned: PlannedFile) -> Iterator[tuple[Path | bytes, str]]:
    """The files that a file of the dataset is made from, with their names in the archive."""
    runs = {run: f"runs/{number}" for number, run in enumerate(sorted({run_of(chain) for chain in planned.chains}))}
    folders = [f"{runs[run_of(chain)]}/chains/{chain.id}" for chain in planned.chains]
    yield canonical(_entry(planned, folders)).encode(), _FILE
    needed = _TEXT_FILES | ({"reference.png"} if planned.config is CHAINS else set())
    for chain, folder in zip(planned.chains, folders, strict=True):
        for path in sorted(chain.folder.iterdir()):
            if path.name in needed or (planned.config is STEPS and path.name != LOCK and path.suffix != UNFINISHED):
                yield path, f"{folder}/{path.name}"
        if planned.config is SOURCES:
            path = source_path(run_of(chain), chain.source.sha256)
            yield path, f"{runs[run_of(chain)]}/sources/{path.name}"


def _put_in_place(rank: int, size: int, runs: Sequence[str], out: str, rights: Mapping[str, str]) -> None:
    """The last task."""
    build.build(find_finished({Path(run) for run in runs}), Path(out), rights=rights)
    copy_metric_folders(Path(out))


def build_by(launch: Launch, runs: Sequence[Path], found: FoundChains, out: Path, rights: Mapping[str, str]) -> Built:
    """Build in tasks. If they are only submitted, the last of them puts the files in place."""
    files = plan_of(found)
    size = min(launch.tasks, len(files))
    shares = [share(files, rank, size) for rank in range(size)]
    entries = [[_entry(one, [str(chain.folder.resolve()) for chain in one.chains]) for one in own] for own in shares]
    plan = canonical(entries).encode()
    key = sha256(plan + canonical([sorted(one.digest for one in found.done.values()), dict(rights)]).encode())
    launch, sent, carried = launch.of(key.hexdigest()[:16], size), "", None
    arguments = {"out": str(out.resolve()), "rights": dict(rights)}
    stages = [Stage("files", size, _work, arguments)]
    if launch.executor == "jobs":
        sent, carried = f"{launch.logs}/sent", Transfer(f"{launch.logs}/carried", written_files)
        stages = [Stage("files", size, work_of_job, {"place": sent, "rights": dict(rights)}, carried)]
    if launch.executor == "slurm":
        names = [str(run.resolve()) for run in runs]
        stages.append(Stage("place", 1, _put_in_place, {**arguments, "runs": names}, always=True))
    with disk_errors_explained(out), locked(out):
        (out / DRAFT).mkdir(exist_ok=True)
        write_whole(out / DRAFT / _PLAN, plan)
        if carried:
            transfer.make_place(launch.logs)
            send_chains(shares, sent)
        if launch.executor != "slurm":
            with arriving(carried, out):
                run_stages(launch, stages)
    if launch.executor == "slurm":  # its last task takes the lock itself
        run_stages(launch, stages)
        return _built_so_far(out, files, "submitted")
    built = build.build(found, out, rights=rights)
    copy_metric_folders(out)
    if carried:
        transfer.remove(sent)
    remove_logs(launch)
    return built
