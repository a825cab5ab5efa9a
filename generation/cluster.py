"""Work in parts: by the processes of one launch, by --shard I/N, or by tasks that datatrove starts.

Nothing is scheduled here. datatrove records which tasks are complete. The same command starts an interrupted task
again, and the task finds what it had finished.
"""

import inspect
import itertools
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .records import UserError, one_of

if TYPE_CHECKING:
    from datatrove.executor.base import PipelineExecutor

T = TypeVar("T")

_OURS = {"pipeline", "tasks", "logging_dir", "depends", "skip_completed"}  # arguments that users cannot set


# --- parts


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(items: Iterable[T], weight: Callable[[T], int], name: Callable[[T], str], index: int, parts: int) -> list[T]:
    """One part of some items: the heaviest are assigned first, each to the part with the least so far."""
    loads: list[int] = [0] * parts
    members: list[T] = []
    for item in sorted(items, key=lambda item: (-weight(item), name(item))):
        least = loads.index(min(loads))
        loads[least] += weight(item)
        members += [item] if least == index else []
    return members


def parse_shard(shard: str) -> tuple[int, int]:
    """I/N as two numbers."""
    index, slash, count = shard.partition("/")
    if not (slash and index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise UserError(f"--shard must be I/N with I from 0 to N - 1, such as 0/4; got {shard!r}")
    return int(index), int(count)


def part(shard: str | None) -> tuple[int, int]:
    """The part that this process runs, and the number of parts: those of the shard times the launched processes."""
    rank, size = rank_and_size()
    index, count = parse_shard(shard) if shard is not None else (0, 1)
    return index * size + rank, count * size


# --- the processes of one launch


def rank_and_size() -> tuple[int, int]:
    expected = int(os.environ.get("WORLD_SIZE", "1"))
    if expected == 1:
        return 0, 1
    try:
        import torch
        from accelerate import PartialState
    except ModuleNotFoundError as error:
        raise UserError(
            f"{expected} processes were launched and need {error.name} to meet: pip install 'convergebench[score]'"
        ) from error
    try:
        # A process waits for the others for as long as their share takes.
        state = PartialState(cpu=not torch.accelerator.is_available(), timeout=timedelta(days=30))
    except ValueError as error:
        raise UserError(f"{expected} processes were launched but cannot meet: {error}") from error
    if state.num_processes != expected:  # each would pay for every step
        raise UserError(
            f"{expected} processes were launched but each sees {state.num_processes}; "
            "on a machine without accelerators launch with --multi_gpu, not with --cpu"
        )
    return state.process_index, state.num_processes


def machines() -> int:
    """The number of machines that the launched processes run on."""
    return max(1, rank_and_size()[1] // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def wait_for_all() -> None:
    if rank_and_size()[1] > 1:
        from accelerate import PartialState

        PartialState().wait_for_everyone()


def by_the_first(work: Callable[[], T]) -> T:
    """Run `work` in the first process once all have arrived; every process gets its result or error."""
    rank, size = rank_and_size()
    if size == 1:
        return work()
    from accelerate.utils import broadcast_object_list

    wait_for_all()
    shared: list[object] = [None, None]
    if rank == 0:
        try:
            shared[0] = work()
        except Exception as error:  # noqa: BLE001 - it is raised below, in every process
            shared[1] = error
    broadcast_object_list(shared)
    if isinstance(shared[1], Exception):
        raise shared[1]
    return shared[0]  # type: ignore[return-value]


# --- tasks of datatrove


@dataclass(frozen=True)
class Launch:
    """Where tasks run, how many there are, and where datatrove records their completion."""

    executor: str
    tasks: int
    logs: str
    arguments: Mapping[str, object]  # of datatrove's executor

    def of(self, key: str, tasks: int) -> "Launch":
        """The launch of the work that this hash identifies, so that completions of other work do not count."""
        return replace(self, tasks=tasks, logs=self.logs + key)


@dataclass(frozen=True)
class Stage:
    """Tasks that need nothing of each other; each runs `work(rank, size, **arguments)`."""

    name: str
    tasks: int
    work: Callable[..., None]  # of an installed module: it is pickled by name
    arguments: Mapping[str, object]
    always: bool = False  # run even if it was complete


def launch_of(
    executor: str, tasks: int | None, logs: str | None, arguments: Mapping[str, object] | None, folder: Path, verb: str
) -> Launch:
    """Check the user's options; unless `logs` is given, logs are written next to the folder."""
    one_of("--executor", executor, ("local", "slurm"))
    allowed = tuple(sorted(set(inspect.signature(_executor_class(executor)).parameters) - _OURS))
    for key in arguments or ():
        one_of(f"--executor-arg for {executor}", key, allowed)
    if executor == "slurm" and "partition" not in (arguments or ()):
        raise UserError("slurm needs --executor-arg partition=VALUE")
    if tasks is None and executor == "slurm":
        raise UserError("--executor slurm needs --tasks, the number of tasks to split the work into")
    place = logs.rstrip("/") if logs else str(folder.resolve().parent / ".tasks")
    words = {**({"time": "24:00:00"} if executor == "slurm" else {}), **(arguments or {})}
    return Launch(executor, tasks or cores(), f"{place}/{verb}-{folder.resolve().name}-", words)


def _executor_class(name: str) -> "type[PipelineExecutor]":
    try:
        import datatrove.executor as executors
    except ModuleNotFoundError as error:
        raise UserError(f"--executor needs {error.name}: pip install 'convergebench[cluster]'") from error
    return getattr(executors, f"{name.capitalize()}PipelineExecutor")


def run_stages(launch: Launch, stages: Sequence[Stage]) -> bool:
    """Run the stages in order; returns False if they were only submitted, in which case the last one ends the work."""
    executors = [_make_executor(launch, stage) for stage in stages]
    if not any(_incomplete(executor) for executor, stage in zip(executors, stages, strict=True) if not stage.always):
        forget(launch, [stage.name for stage in stages])  # all are complete, yet the work is not done
    if launch.executor == "slurm":
        for earlier, later in itertools.pairwise(executors):
            later.depends = earlier
        executors[-1].run()
        return False
    for executor, stage in zip(executors, stages, strict=True):
        with raised_if_killed(executor.workers):
            executor.run()
        if ranks := _incomplete(executor):
            raise UserError(
                f"{len(ranks)} of {stage.tasks} tasks of stage {stage.name} are not complete, the first of them "
                f"{ranks[0]}: see {launch.logs}/{stage.name}/logs, and give the same command again"
            )
    return True


def _make_executor(launch: Launch, stage: Stage) -> "PipelineExecutor":
    arguments = dict(launch.arguments)
    if launch.executor == "local":
        start_server(stage.work.__module__)
        arguments.setdefault("workers", min(stage.tasks, cores()))
        task_cores = max(1, cores() // int(str(arguments["workers"])))
    else:
        task_cores = int(str(arguments.get("cpus_per_task", 1)))
        arguments.setdefault("job_name", f"convergebench-{stage.name}")
        if sys.prefix != sys.base_prefix and not {"env_command", "condaenv", "venv_path"} & arguments.keys():
            arguments["venv_path"] = f"{sys.prefix}/bin/activate"
    return _executor_class(launch.executor)(
        pipeline=[partial(_run_task, stage, task_cores)],
        tasks=stage.tasks,
        logging_dir=f"{launch.logs}/{stage.name}",
        skip_completed=not stage.always,
        **arguments,
    )


def _run_task(stage: Stage, task_cores: int, data: object, rank: int, size: int) -> object:
    """One task, as datatrove calls it wherever it is unpickled; it uses only so many cores."""
    os.environ["LOCAL_WORLD_SIZE"] = str(max(1, cores() // task_cores))
    stage.work(rank, size, **stage.arguments)
    return data


def _incomplete(executor: "PipelineExecutor") -> list[int]:
    return executor.get_incomplete_ranks(skip_completed=True)


def forget(launch: Launch, stages: Sequence[str]) -> None:
    for name in stages:
        shutil.rmtree(f"{launch.logs}/{name}/completions", ignore_errors=True)


def remove_logs(launch: Launch) -> None:
    shutil.rmtree(launch.logs, ignore_errors=True)
    with suppress(OSError):
        Path(launch.logs).parent.rmdir()


def start_server(*modules: str) -> None:
    """Start the process from which local tasks are forked, unless it is running.

    It imports these modules once, for all tasks, while this process prepares the work.
    """
    from multiprocess import forkserver

    forkserver.set_forkserver_preload([*modules, __name__])
    forkserver.ensure_running()


@contextmanager
def raised_if_killed(workers: int) -> Iterator[None]:
    """Raise if a worker of a pool of this size is killed; multiprocess would otherwise hang."""
    if not workers or threading.current_thread() is not threading.main_thread():
        yield
        return
    import multiprocess

    ended = threading.Event()

    def watch() -> None:
        children: dict[int, multiprocess.Process] = {}
        while not ended.wait(0.2):
            children |= {child.pid: child for child in multiprocess.active_children()}
            # A pool ends its own workers by SIGTERM and replaces one that died of anything else. The exit code is
            # known only to the first caller, so a replacement counts as a death too.
            codes = {child.exitcode for child in children.values()} - {None, -signal.SIGTERM}
            started = sum("PoolWorker" in child.name for child in children.values())
            if (started > workers or any(code < 0 for code in codes)) and not ended.is_set():
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
                return

    def raise_killed(number: int, frame: object) -> None:
        raise UserError("the process of a task was killed; give the same command again to go on")

    # Not SIGINT: a program that a script starts in the background ignores it.
    handler = signal.signal(signal.SIGUSR1, raise_killed)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        signal.signal(signal.SIGUSR1, handler)


def parse_arguments(pairs: Sequence[str]) -> dict[str, object]:
    """The NAME=VALUE pairs of --executor-arg; a value that is JSON is decoded."""
    arguments: dict[str, object] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise UserError(f"--executor-arg is {pair!r}; it must be NAME=VALUE, such as partition=cpu")
        try:
            arguments[name] = json.loads(value)
        except ValueError:
            arguments[name] = value
    return arguments
