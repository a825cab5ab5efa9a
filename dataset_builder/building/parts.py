"""Building in parts: each writes some of the dataset's files into the draft, from which `build` puts them in place."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from convergebench.generation.cluster import Launch, Stage, launch_of, remove_logs, run_stages
from convergebench.generation.files import disk_errors_explained, locked, write_whole
from convergebench.generation.records import UserError, canonical
from convergebench.generation.store_reader import FoundChains, find_finished, read_chain

from ..dataset.columns import CONFIGS
from . import build
from .build import DRAFT, Built, PlannedFile, write_file
from .metric_folders import copy_metric_folders

PLAN = "plan.json"  # in the draft: the files, and where the chains of each lie


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


def built_so_far(out: Path, files: Sequence[PlannedFile], state: str) -> Built:
    """What is to be put in place later."""
    steps = [planned.chains for planned in files if planned.config.name == "steps"]
    chains = [chain for chains in steps for chain in chains]
    size = sum(path.stat().st_size for path in (out / DRAFT / planned.file for planned in files) if path.exists())
    return Built(out, len(chains), sum(chain.calls + 1 for chain in chains), 0, len(files), size, (), (), 0, state)


def work(rank: int, size: int, out: str, rights: Mapping[str, str]) -> None:
    """One task: it reads the chains of its own files, from where the plan says that they lie."""
    plan = json.loads((Path(out) / DRAFT / PLAN).read_bytes())[str(size)][rank]
    files = []
    for file, config, places in plan:
        chains = tuple(read_chain(Path(folder), suite, version) for folder, suite, version in places)
        files.append(PlannedFile(CONFIGS[config], file, chains))
    write_part(files, Path(out), 0, 1, rights)


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
    if executor == "jobs":
        raise UserError("a job has no disk with the run's folder; build with --executor local, slurm or ray")
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
    if executor == "slurm":
        names = [str(run.resolve()) for run in runs]
        stages.append(Stage("place", 1, put_in_place, {**told, "runs": names}, always=True))
    with disk_errors_explained(out), locked(out):
        (out / DRAFT).mkdir(exist_ok=True)
        write_whole(out / DRAFT / PLAN, data)
        if not run_stages(launch, stages):
            return built_so_far(out, files, "submitted")
    built = build.build(found, out, rights=rights)
    remove_logs(launch)
    return built


def chains_of(planned: PlannedFile) -> list[list[str]]:
    return [[str(chain.folder.resolve()), chain.suite, chain.suite_version] for chain in planned.chains]
