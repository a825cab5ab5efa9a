"""Work on many machines: a verb's stages as pipelines of datatrove, which starts tasks and knows which are complete.

Nothing is scheduled here. A task that was cut short is begun again by the same command, and finds what it had finished.
"""

import inspect
import itertools
import json
import math
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .processes import cores
from .records import UserError, one_of

EXECUTORS = ("local", "slurm", "ray", "jobs")
OURS = ("pipeline", "tasks", "logging_dir", "depends", "skip_completed")  # arguments that are not the user's to set
DEFAULTS: dict[str, dict[str, Any]] = {
    "local": {},
    "slurm": {"time": "24:00:00"},
    "ray": {
        "cpus_per_task": 0.5,
        "mem_per_cpu_gb": 4,
    },  # a whole core each leaves none for Ray itself where there are two
    "jobs": {"dependencies": ["convergebench[cluster,score]"]},
}
NEEDS = {"slurm": ("partition",)}


@dataclass(frozen=True)
class Launch:
    """Where tasks run, how many there are, and where datatrove keeps what it knows of them."""

    executor: str
    tasks: int
    logs: str  # a folder, here or such as hf://buckets/NAME/BUCKET/FOLDER
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of datatrove's executor


@dataclass(frozen=True)
class Stage:
    """Tasks that need nothing of each other; `work(rank, size, **words)` is one, a function of an installed module."""

    name: str
    tasks: int
    work: Callable[..., None]
    words: Mapping[str, Any]
    carry: Any = None  # of carried.Carry, where a task has a disk of its own
    always: bool = False  # run even where it was complete


def launch_of(
    executor: str, tasks: int | None, logs: str | None, arguments: Mapping[str, Any], beside: Path, name: str
) -> Launch:
    """What was asked for, checked; logs are kept beside the folder that is worked on unless told otherwise."""
    one_of("--executor", executor, EXECUTORS)
    allowed = tuple(sorted(set(inspect.signature(executor_class(executor)).parameters) - {*OURS}))
    for key in arguments:
        one_of(f"--executor-arg for {executor}", key, allowed)
    for key in NEEDS.get(executor, ()):
        if key not in arguments:
            raise UserError(f"{executor} needs --executor-arg {key}=VALUE")
    if tasks is None and executor != "local":
        raise UserError(f"--executor {executor} needs --tasks, the number of parts that the work is dealt into")
    if executor == "jobs" and not (logs or "").startswith(("hf://", "s3://")):
        raise UserError(f"--logs is {logs!r}; a job reaches hf:// and s3:// only, such as hf://buckets/ME/BUCKET/score")
    place = logs.rstrip("/") if logs else str(beside.resolve().parent / ".tasks")
    return Launch(executor, tasks or cores(), f"{place}/{name}", {**DEFAULTS[executor], **arguments})


def executor_class(name: str) -> Any:
    """Datatrove's class of that name."""
    try:
        import datatrove.executor as executors
    except ModuleNotFoundError as error:
        raise UserError(f"--executor needs {error.name}: pip install 'convergebench[cluster]'") from error
    if name == "ray":
        try:
            import ray  # noqa: F401
        except ModuleNotFoundError as error:
            raise UserError("--executor ray needs ray: pip install ray") from error
        from datatrove.executor.ray import RayPipelineExecutor

        return RayPipelineExecutor
    classes = {"local": "LocalPipelineExecutor", "slurm": "SlurmPipelineExecutor", "jobs": "JobsPipelineExecutor"}
    return getattr(executors, classes[name])


def run_stages(launch: Launch, stages: Sequence[Stage]) -> bool:
    """Run stage after stage. False: they are submitted, and their last one ends the work without this process."""
    made = [make_executor(launch, stage) for stage in stages]
    if not any(incomplete(executor) for executor, stage in zip(made, stages, strict=True) if not stage.always):
        forget(launch, [stage.name for stage in stages])  # they were complete, and yet something is left to do
    if launch.executor == "slurm":
        for before, after in itertools.pairwise(made):
            after.depends = before
        made[-1].run()
        return False
    for executor, stage in zip(made, stages, strict=True):
        workers = executor.workers if launch.executor == "local" else 0
        with running_ray() if launch.executor == "ray" else raised_if_killed(workers):
            executor.run()
        if left := incomplete(executor):
            raise UserError(
                f"{len(left)} of {stage.tasks} tasks of stage {stage.name} are not complete, the first of them "
                f"{left[0]}: see {launch.logs}/{stage.name}/logs, and give the same command again"
            )
    return True


def incomplete(executor: Any) -> list[int]:
    """The tasks that have no completion file."""
    executor.logging_dir.invalidate_cache()
    try:
        return executor.get_incomplete_ranks(skip_completed=True)
    except FileNotFoundError:  # there is no such repository yet
        return list(range(executor.world_size))


def forget(launch: Launch, stages: Sequence[str]) -> None:
    """Remove the completion files of these stages."""
    from datatrove.io import get_datafolder

    for name in stages:
        folder = get_datafolder(f"{launch.logs}/{name}")
        with suppress(FileNotFoundError):
            for path in folder.list_files("completions"):
                folder.rm(path)


def remove_logs(launch: Launch) -> None:
    """Remove what datatrove wrote of work that is done, where it is on this machine."""
    if "://" not in launch.logs:
        shutil.rmtree(launch.logs, ignore_errors=True)
        with suppress(OSError):
            Path(launch.logs).parent.rmdir()


def start_server(*modules: str) -> None:
    """Start the process from which tasks on this machine are forked, where there is none yet.

    It imports these modules once for all tasks, while this process goes on with what it has to do before they begin.
    """
    from multiprocess import forkserver

    forkserver.set_forkserver_preload([*modules, __name__.replace("cluster", "tasks")])
    forkserver.ensure_running()


def make_executor(launch: Launch, stage: Stage) -> Any:
    """A stage as an executor of datatrove's."""
    from .tasks import Task

    arguments = dict(launch.arguments)
    each: int | None = None
    if launch.executor == "local":
        start_server(stage.work.__module__)
        arguments.setdefault("workers", min(stage.tasks, cores()))
        each = max(1, cores() // int(arguments["workers"]))
    elif launch.executor in ("ray", "slurm"):
        each = max(1, math.floor(arguments.get("cpus_per_task", 1)))
    if launch.executor == "slurm":
        arguments.setdefault("job_name", f"convergebench-{stage.name}")
        if sys.prefix != sys.base_prefix and not {"env_command", "condaenv", "venv_path"} & arguments.keys():
            arguments["venv_path"] = f"{sys.prefix}/bin/activate"
    task = Task(stage.name, stage.work, dict(stage.words), each, stage.carry)
    about = {"pipeline": [task], "tasks": stage.tasks, "logging_dir": f"{launch.logs}/{stage.name}"}
    about["skip_completed"] = not stage.always
    return executor_class(launch.executor)(**about, **arguments)


@contextmanager
def running_ray() -> Iterator[None]:
    """A Ray that is there, by its address in RAY_ADDRESS, or one on this machine while the block runs."""
    import ray

    with nullcontext() if ray.is_initialized() else ray.init(log_to_driver=False):
        yield


@contextmanager
def raised_if_killed(workers: int) -> Iterator[None]:
    """Raise where a process of a pool of so many is killed, for whose task the pool would wait for ever."""
    if not workers or threading.current_thread() is not threading.main_thread():
        yield
        return
    import multiprocess

    ended = threading.Event()

    def look() -> None:
        seen: dict[int, Any] = {}
        while not ended.wait(0.2):
            seen |= {child.pid: child for child in multiprocess.active_children()}
            # A pool ends its own by SIGTERM, and puts another in the place of one that died of anything else; which
            # of the two asks first for the end of a process learns it, and the other may not.
            codes = {child.exitcode for child in seen.values()} - {None, -signal.SIGTERM}
            started = sum("PoolWorker" in child.name for child in seen.values())
            if (started > workers or any(code < 0 for code in codes)) and not ended.is_set():
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
                return

    def raise_killed(number: int, frame: object) -> None:
        raise UserError("the process of a task was killed; give the same command again to go on")

    # Not SIGINT, which a program that was started in the background of a script does not hear.
    before = signal.signal(signal.SIGUSR1, raise_killed)
    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        signal.signal(signal.SIGUSR1, before)


def parse_arguments(pairs: Sequence[str]) -> dict[str, Any]:
    """The pairs NAME=VALUE of --executor-arg; a value is JSON where it can be."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise UserError(f"--executor-arg is {pair!r}; it is NAME=VALUE, such as partition=cpu")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


@contextmanager
def using_cores(count: int | None) -> Iterator[None]:
    """While the block runs, this process counts on so many cores."""
    before = os.environ.get("LOCAL_WORLD_SIZE")
    if count is not None:
        os.environ["LOCAL_WORLD_SIZE"] = str(max(1, cores() // count))
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("LOCAL_WORLD_SIZE", None)
        else:
            os.environ["LOCAL_WORLD_SIZE"] = before
