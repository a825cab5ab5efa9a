"""Building in parts: each writes some of the dataset's files into the draft, from which `build` puts them in place."""

import contextlib
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

from convergebench.generation import carried
from convergebench.generation.cluster import Launch, Stage, launch_of, remove_logs, run_stages
from convergebench.generation.files import LOCK, UNFINISHED, disk_errors_explained, locked, write_whole
from convergebench.generation.records import UserError, canonical
from convergebench.generation.store_reader import (
    FoundChains,
    StoredChain,
    find_finished,
    read_chain,
    run_of,
    source_path,
)

from ..dataset.rows import CHAINS, SOURCES, STEPS, configs
from . import build
from .build import DRAFT, Built, PlannedFile, write_file
from .metric_folders import copy_metric_folders

PLAN = "plan.json"  # in the draft: the files, and where the chains of each lie
ABOUT = "file.json"  # in what a job is sent: the same of one file
# The files of a chain that every row is made from; `steps` also take the pictures, `chains` the reference.
TEXT = ("chain.json", "steps.jsonl", "done.json", ".retried.jsonl")


def share(files: Sequence[PlannedFile], rank: int, size: int) -> list[PlannedFile]:
    """What a part of so many writes: the largest files are dealt first, each to the part with the least so far."""
    loads, own = [0] * size, []
    for planned in sorted(files, key=lambda planned: (-weight(planned), planned.file)):
        least = loads.index(min(loads))
        loads[least] += weight(planned)
        own += [planned] if least == rank else []
    return own


def weight(planned: PlannedFile) -> int:
    return sum(chain.bytes for chain in planned.chains) if planned.config.name == "steps" else len(planned.chains)


def plan_of(found: FoundChains) -> list[PlannedFile]:
    if not found.done:
        raise UserError("no chain is done in the runs given; `convergebench generate` finishes them")
    chains = sorted(found.done.values(), key=lambda chain: chain.order)
    return build.plan_files(chains, build.one_chain_per_source(chains))


def write_part(files: Sequence[PlannedFile], out: Path, rank: int, size: int, rights: Mapping[str, str]) -> Built:
    """Write one part's files into the draft, but those that are there already."""
    own = share(files, rank, size)
    with disk_errors_explained(out):
        for planned in own:
            write_file(out / DRAFT, planned, lambda: None, rights)
    return built_so_far(out, own, "part")


def files_so_far(out: Path) -> tuple[int, int | None] | None:
    """How many files of a dataset are written and wait for the others, of how many where parts write them.

    None where nobody is building.
    """
    if not (out / DRAFT).is_dir():
        return None
    planned = None
    with contextlib.suppress(FileNotFoundError, ValueError):
        plan = json.loads((out / DRAFT / PLAN).read_bytes())
        planned = sum(len(own) for shares in plan.values() for own in shares)
    return len(list((out / DRAFT).rglob("*.parquet.json"))), planned


def built_so_far(out: Path, files: Sequence[PlannedFile], state: str) -> Built:
    """What is to be put in place later."""
    steps = [planned.chains for planned in files if planned.config.name == "steps"]
    chains = [chain for chains in steps for chain in chains]
    size = sum(path.stat().st_size for path in (out / DRAFT / planned.file for planned in files) if path.exists())
    return Built(out, len(chains), sum(chain.calls + 1 for chain in chains), 0, len(files), size, (), (), 0, state)


def work(rank: int, size: int, out: str, rights: Mapping[str, str]) -> None:
    """One task: it reads the chains of its own files, from where the plan says that they lie."""
    plan = json.loads((Path(out) / DRAFT / PLAN).read_bytes())[str(size)][rank]
    write_part([planned_file(one, Path("/")) for one in plan], Path(out), 0, 1, rights)


def work_far_away(rank: int, size: int, place: str, rights: Mapping[str, str], folder: Path) -> None:
    """The same on a machine that is sent its chains, those of one file at a time."""
    for name in carried.names_at(place, rank):
        with tempfile.TemporaryDirectory(prefix="convergebench-") as here:
            carried.unpack(place, name, Path(here))
            planned = planned_file(json.loads((Path(here) / ABOUT).read_bytes()), Path(here))
            write_file(folder / DRAFT, planned, lambda: None, rights)


def planned_file(told: Sequence[Any], below: Path) -> PlannedFile:
    """A file as the plan has it: its name, its config, and where each of its chains lies with its suite and version."""
    file, config, places = told
    chains = tuple(read_chain(below / folder, suite, version) for folder, suite, version in places)
    return PlannedFile(configs()[config], file, chains)


def written_files(folder: Path) -> Iterable[Path]:
    """What a job has finished: files of the draft, each before the record that it is whole."""
    records = sorted((folder / DRAFT).rglob("*.parquet.json"))
    return [path for record in records for path in (record.with_suffix(""), record)]


def send_chains(shares: Sequence[Sequence[PlannedFile]], place: str) -> None:
    """Send each job what its files are made from, a parcel for a file; what was sent by an earlier command is there.

    Of that the last parcel may have been cut short, and is sent again.
    """
    names = {f"{rank:05d}/{number:06d}.tar": one for rank, own in enumerate(shares) for number, one in enumerate(own)}
    there = [name for name in carried.names_at(place) if name in names]
    for name in [name for name in names if name not in there[:-1]]:
        carried.send(place, name, parcel_of(names[name]))


def parcel_of(planned: PlannedFile) -> Iterable[tuple[Path | bytes, str]]:
    """The files that one file of the dataset is made from, under the names that a job finds them by."""
    runs = {run: f"runs/{number}" for number, run in enumerate(sorted({run_of(chain) for chain in planned.chains}))}
    places = [
        [f"{runs[run_of(chain)]}/chains/{chain.id}", chain.suite, chain.suite_version] for chain in planned.chains
    ]
    yield canonical([planned.file, planned.config.name, places]).encode(), ABOUT
    for chain, (folder, *_) in zip(planned.chains, places, strict=True):
        for path in needed_files(planned, chain):
            yield path, f"{folder}/{path.name}"
        if planned.config is SOURCES:
            path = source_path(run_of(chain), chain.source.sha256)
            yield path, f"{runs[run_of(chain)]}/sources/{path.name}"


def needed_files(planned: PlannedFile, chain: StoredChain) -> list[Path]:
    """The files of a chain's folder that a row of this config is made from."""
    there = [path for path in sorted(chain.folder.iterdir()) if path.name != LOCK and path.suffix != UNFINISHED]
    also = {"reference.png"} if planned.config is CHAINS else set()
    return [path for path in there if planned.config is STEPS or path.name in {*TEXT, *also}]


def put_in_place(rank: int, size: int, runs: Sequence[str], out: str, rights: Mapping[str, str]) -> None:
    """The last task."""
    build.build(find_finished({Path(run) for run in runs}), Path(out), rights=rights)
    copy_metric_folders(Path(out))


def build_by(
    executor: str,
    tasks: int | None,
    logs: str | None,
    arguments: Mapping[str, Any],
    runs: Sequence[Path],
    found: FoundChains,
    out: Path,
    rights: Mapping[str, str],
) -> Built:
    """Build by an executor of datatrove's; where it is submitted only, the last task puts the files in place."""
    launch = launch_of(executor, tasks, logs, arguments, out, f"build-{out.resolve().name}-")
    files = plan_of(found)
    size = min(launch.tasks, len(files))
    shares = [share(files, rank, size) for rank in range(size)]
    places = [[[one.file, one.config.name, chains_of(one)] for one in own] for own in shares]
    data = canonical({str(size): places}).encode()
    key = sha256(data + canonical([sorted(one.digest for one in found.done.values()), dict(rights)]).encode())
    launch = Launch(executor, size, launch.logs + key.hexdigest()[:16], launch.arguments)
    told = {"out": str(out.resolve()), "rights": dict(rights)}
    stages = [Stage("files", size, work, told)]
    sent, carry = f"{launch.logs}/sent", None
    if executor == "jobs":
        carry = carried.Carry(f"{launch.logs}/carried", written_files, "folder")
        stages = [Stage("files", size, work_far_away, {"place": sent, "rights": dict(rights)}, carry)]
    if executor == "slurm":
        names = [str(run.resolve()) for run in runs]
        stages.append(Stage("place", 1, put_in_place, {**told, "runs": names}, always=True))
    with disk_errors_explained(out), locked(out):
        (out / DRAFT).mkdir(exist_ok=True)
        write_whole(out / DRAFT / PLAN, data)
        if carry:
            carried.make_place(launch.logs)
            send_chains(shares, sent)
        if executor != "slurm":
            with carried.arriving(carry.place, out) if carry else nullcontext():
                run_stages(launch, stages)
    if executor == "slurm":  # its last task takes the lock itself
        run_stages(launch, stages)
        return built_so_far(out, files, "submitted")
    built = build.build(found, out, rights=rights)
    if carry:
        carried.remove(sent)
    remove_logs(launch)
    return built


def chains_of(planned: PlannedFile) -> list[list[str]]:
    return [[str(chain.folder.resolve()), chain.suite, chain.suite_version] for chain in planned.chains]
