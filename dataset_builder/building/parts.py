"""Building in parts: each part writes some of the dataset's files into the draft; `build` then puts them in place."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from convergebench.generation.cluster import Launch, Stage, remove_logs, run_stages
from convergebench.generation.files import disk_errors_explained, locked, write_whole
from convergebench.generation.records import UserError, canonical
from convergebench.generation.store_reader import FoundChains, find_finished, read_chain

from ..dataset.rows import STEPS, configs
from . import build
from .build import DRAFT, Built, PlannedFile, write_file
from .metric_folders import copy_metric_folders

_PLAN = "plan.json"  # in the draft: each task's files, and the folders of their chains
_Entry = tuple[str, str, list[tuple[str, str, str]]]  # a file, its config, and each chain's folder, suite and version


def share(files: Sequence[PlannedFile], rank: int, size: int) -> list[PlannedFile]:
    """The files that one part writes: the largest are assigned first, each to the part with the least so far."""

    def weight(planned: PlannedFile) -> int:
        return sum(chain.bytes for chain in planned.chains) if planned.config is STEPS else len(planned.chains)

    loads, files_of_part = [0] * size, []
    for planned in sorted(files, key=lambda planned: (-weight(planned), planned.file)):
        least = loads.index(min(loads))
        loads[least] += weight(planned)
        files_of_part += [planned] if least == rank else []
    return files_of_part


def plan_of(finished: FoundChains) -> list[PlannedFile]:
    """Every file of the dataset."""
    if not finished.done:
        raise UserError("no chain is done in the runs given; `convergebench generate` finishes them")
    chains = sorted(finished.done.values(), key=lambda chain: chain.order)
    return build.plan_files(chains, build.one_chain_per_source(chains))


def write_part(files: Sequence[PlannedFile], out: Path, rights: Mapping[str, str]) -> Built:
    """Write these files into the draft unless they are there already."""
    with disk_errors_explained(out):
        for planned in files:
            write_file(out / DRAFT, planned, lambda: None, rights)
    return _built_so_far(out, files, "part")


def files_so_far(out: Path) -> tuple[int, int | None] | None:
    """How many files the draft holds, and how many are planned if tasks write them; None if no build is under way."""
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


def _entry(planned: PlannedFile) -> _Entry:
    places = [(str(chain.folder.resolve()), chain.suite, chain.suite_version) for chain in planned.chains]
    return planned.file, planned.config.name, places


def _work(rank: int, size: int, out: str, rights: Mapping[str, str]) -> None:
    """Run one task, which reads only the chains of its own files."""
    files = [
        PlannedFile(configs()[config], file, tuple(read_chain(Path(folder), *suite) for folder, *suite in places))
        for file, config, places in json.loads((Path(out) / DRAFT / _PLAN).read_bytes())[rank]
    ]
    write_part(files, Path(out), rights)


def _put_in_place(rank: int, size: int, runs: Sequence[str], out: str, rights: Mapping[str, str]) -> None:
    """Run the last task, which builds from the files of the others."""
    build.build(find_finished({Path(run) for run in runs}), Path(out), rights=rights)
    copy_metric_folders(Path(out))


def build_by(
    launch: Launch, runs: Sequence[Path], finished: FoundChains, out: Path, rights: Mapping[str, str]
) -> Built:
    """Build in tasks. Under slurm they are only submitted, and the last one puts the files in place."""
    if launch.executor == "jobs":
        raise UserError("jobs do not build: the pictures would go up and come back; use --executor local")
    files = plan_of(finished)
    size = min(launch.tasks, len(files))
    plan = canonical([[_entry(planned) for planned in share(files, rank, size)] for rank in range(size)]).encode()
    key = sha256(plan + canonical([sorted(chain.digest for chain in finished.done.values()), dict(rights)]).encode())
    launch = launch.of(key.hexdigest()[:16], size)
    arguments = {"out": str(out.resolve()), "rights": dict(rights)}
    stages = [Stage("files", size, _work, arguments)]
    with disk_errors_explained(out), locked(out):
        (out / DRAFT).mkdir(exist_ok=True)
        write_whole(out / DRAFT / _PLAN, plan)
        if launch.executor != "slurm":
            run_stages(launch, stages)
    if launch.executor == "slurm":  # its last task takes the lock itself
        names = [str(run.resolve()) for run in runs]
        run_stages(launch, [*stages, Stage("place", 1, _put_in_place, {**arguments, "runs": names}, always=True)])
        return _built_so_far(out, files, "submitted")
    built = build.build(finished, out, rights=rights)
    copy_metric_folders(out)
    remove_logs(launch)
    return built
