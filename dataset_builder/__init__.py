"""Turns chains into the dataset folder that is also the Hub repository."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .building.build import Built

__all__ = ["build"]


def build(
    runs: str | Path | Sequence[str | Path],
    out: str | Path = "convergebench",
    *,
    licence: str | None = None,
    attribution: str | None = None,
    shard: str | None = None,
    executor: str | None = None,
    tasks: int | None = None,
    logs: str | None = None,
    executor_args: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> "Built":
    """Turn the finished chains of one or more runs into a dataset folder, or bring the one that is there up to date.

    `licence` and `attribution` are those of pictures of which nobody said any; without them nothing is published.
    Several processes may call it after a run that they shared: the first of them builds, when all have come so far.
    `shard` writes one part of the files, I/N, which the call without it puts in place; `executor` has `tasks` parts
    written by datatrove: local, slurm, ray or jobs. What is not put in place yet says so in its `state`.
    """
    from convergebench.generation.cluster import launch_of
    from convergebench.generation.processes import by_the_first, parse_shard
    from convergebench.generation.progress import progress_bar
    from convergebench.generation.store_reader import find_finished

    from .building import build as building
    from .building import parts
    from .building.metric_folders import check_metric_folders, copy_metric_folders

    rights = {key: value for key, value in (("licence", licence), ("attribution", attribution)) if value}
    folders = [runs] if isinstance(runs, str | Path) else runs

    def write() -> "Built":
        found = find_finished({Path(run) for run in folders})
        check_metric_folders(Path(out))
        if shard is not None:
            files = parts.share(parts.plan_of(found), *parse_shard(shard))
            return parts.write_part(files, Path(out), rights)
        if executor is not None:
            launch = launch_of(executor, tasks, logs, executor_args, Path(out), "build")
            return parts.build_by(launch, [Path(run) for run in folders], found, Path(out), rights)
        with progress_bar("build", found.steps, "steps", quiet) as advance:
            built = building.build(found, Path(out), lambda: advance(1, ""), rights)
        copy_metric_folders(Path(out))
        return built

    return by_the_first(write)
