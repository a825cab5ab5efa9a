"""Work in parts that datatrove starts as tasks, on this machine or by Slurm.

Nothing is scheduled here. The same command starts an
interrupted task again, which finds what it had finished.
"""

import inspect
import itertools
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .records import UserError, one_of
from .shares import cores

if TYPE_CHECKING:
    from datatrove.executor.base import PipelineExecutor

_OURS = {"pipeline", "tasks", "logging_dir", "depends", "skip_completed"}  # arguments that users cannot set


# Its name, the number of tasks, `work(rank, size, **arguments)`
# of an installed module, and the arguments.
Stage = tuple[str, int, Callable[..., None], Mapping[str, object]]


@dataclass(frozen=True)
class Launch:
    """Where tasks run, how many there are, and where datatrove writes about them."""

    executor: str
    tasks: int
    logs: str
    arguments: Mapping[str, object]  # of datatrove's executor


def launch_of(
    executor: str,
    tasks: int | None,
    logs: str | None,
    arguments: Mapping[str, object] | None,
    folder: Path,
    verb: str,
) -> Launch:
    """Check the user's options; unless `logs` is given, logs are written next to the folder."""
    one_of("--executor", executor, ("local", "slurm"))
    words = dict(arguments or {})
    allowed = tuple(sorted(set(inspect.signature(_executor_class(executor)).parameters) - _OURS))
    for key in words:
        one_of(f"--executor-arg for {executor}", key, allowed)
    if executor == "slurm":
        if "partition" not in words:
            raise UserError("slurm needs --executor-arg partition=VALUE")
        if tasks is None:
            raise UserError("--executor slurm needs --tasks, the number of tasks to split the work into")
        words = {"time": "24:00:00", **words}
    place = Path(logs) if logs else folder.resolve().parent / ".tasks"
    # A folder of its own: what an earlier launch completed does not count.
    return Launch(executor, tasks or cores(), f"{place}/{verb}-{folder.resolve().name}/{time.time_ns()}", words)


def _executor_class(name: str) -> "type[PipelineExecutor]":
    try:
        import datatrove.executor as executors
    except ModuleNotFoundError as error:
        raise UserError(f"--executor needs {error.name}: pip install 'convergebench[cluster]'") from error
    return getattr(executors, f"{name.capitalize()}PipelineExecutor")


def run_stages(launch: Launch, stages: Sequence[Stage]) -> bool:
    """Run stages in order; False if they were only submitted. Finished tasks find nothing to do."""
    executors = [_make_executor(launch, stage) for stage in stages]
    if launch.executor == "slurm":
        for earlier, later in itertools.pairwise(executors):
            later.depends = earlier
        executors[-1].run()
        return False
    for executor, (name, tasks, *_) in zip(executors, stages, strict=True):
        with _raised_if_killed(executor.workers):
            executor.run()
        if ranks := executor.get_incomplete_ranks(skip_completed=True):
            count, place = f"{len(ranks)} of {tasks} tasks", f"{launch.logs}/{name}/logs"
            raise UserError(f"{count} failed, first {ranks[0]}: see {place}, and give the same command again")
    return True


def _make_executor(launch: Launch, stage: Stage) -> "PipelineExecutor":
    name, tasks, work, _ = stage
    arguments = dict(launch.arguments)
    if launch.executor == "local":
        start_server(work.__module__)
        arguments.setdefault("workers", min(tasks, cores()))
        task_cores = max(1, cores() // int(str(arguments["workers"])))
    else:
        task_cores = int(str(arguments.get("cpus_per_task", 1)))
        arguments.setdefault("job_name", f"convergebench-{name}")
        if sys.prefix != sys.base_prefix and not {"env_command", "condaenv", "venv_path"} & arguments.keys():
            arguments["venv_path"] = f"{sys.prefix}/bin/activate"
    pipeline = [partial(_run_task, stage, task_cores)]
    return _executor_class(launch.executor)(
        pipeline, tasks=tasks, logging_dir=f"{launch.logs}/{name}", **arguments
    )


def _run_task(stage: Stage, task_cores: int, data: object, rank: int, size: int) -> object:
    """One task, as datatrove calls it wherever it is unpickled; it uses only so many cores."""
    os.environ["LOCAL_WORLD_SIZE"] = str(max(1, cores() // task_cores))
    _, _, work, arguments = stage
    work(rank, size, **arguments)
    return data


def remove_logs(launch: Launch) -> None:
    folder = Path(launch.logs).parent
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()


def start_server(*modules: str) -> None:
    """Start the process from which local tasks are forked; it imports these modules once for all."""
    from multiprocess import forkserver

    forkserver.set_forkserver_preload([*modules, __name__])
    forkserver.ensure_running()


@contextmanager
def _raised_if_killed(workers: int) -> Iterator[None]:
    """Raise if a worker of a pool of this size is killed; multiprocess would otherwise hang."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ended = threading.Event()
    # Not SIGINT: a program that a script starts in the background ignores it.
    handler = signal.signal(signal.SIGUSR1, _raise_killed)
    watcher = threading.Thread(target=_watch, args=(workers, ended), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        signal.signal(signal.SIGUSR1, handler)


def _watch(workers: int, ended: threading.Event) -> None:
    import multiprocess

    children: dict[int, multiprocess.Process] = {}
    while not ended.wait(0.2):
        children |= {child.pid: child for child in multiprocess.active_children()}
        # A pool ends its own workers by SIGTERM and replaces one that died of anything else. The
        # exit code is known only to the first caller, so a replacement counts as a death too.
        codes = {child.exitcode for child in children.values()} - {None, -signal.SIGTERM}
        started = sum("PoolWorker" in child.name for child in children.values())
        if (started > workers or any(code < 0 for code in codes)) and not ended.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            return


def _raise_killed(number: int, frame: object) -> None:
    raise UserError("the process of a task was killed; give the same command again to go on")
