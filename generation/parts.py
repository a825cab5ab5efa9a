"""Runs `generate` through datatrove: each task runs its share of the chains, as `--shard I/N` does."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from . import editors, store
from .cluster import Launch, Stage, remove_logs, run_stages
from .files import LOCK, UNFINISHED
from .plan import Plan
from .records import UserError
from .run_log import FOLDER as LOG
from .scheduler import Outcome, require_ready
from .transfer import Transfer, arriving, make_place, send


def work(rank: int, size: int, arguments: Mapping[str, Any], folder: Path | None = None) -> None:
    """Run one task: the unfinished chains of its share."""
    from . import generate

    outcome = generate(**{**arguments, "out": folder or arguments["out"]}, shard=f"{rank}/{size}", quiet=True)
    if not outcome.clean:
        reasons = [f"chain {name} was left alone: {reason}" for name, reason in outcome.left.items()]
        raise UserError(outcome.stopped or reasons[0])


def generate_by(launch: Launch, plan: Plan, run: Path, retry: Sequence[str], arguments: Mapping[str, Any]) -> Outcome:
    """Run a plan in tasks. Under slurm they are only submitted; `convergebench status` follows them."""
    size = min(launch.tasks, len(plan.chains))
    key = sha256(repr([sorted(chain.id for chain in plan.chains), size, sorted(retry)]).encode()).hexdigest()[:16]
    launch, transfer = launch.of(key, size), None
    if launch.executor == "jobs":
        _refuse_for_jobs(plan, arguments)
        make_place(launch.logs)
        transfer = Transfer(f"{launch.logs}/carried", finished_files, inputs=f"{launch.logs}/given")
    with arriving(transfer, run):
        undone = [chain for chain in plan.chains if retry or not store.is_done(run, chain.id)]
        spent_before, done_before = _spent(run), len(plan.chains) - len(undone)
        if transfer and undone:
            send_inputs(run, transfer.inputs, retry)
        elif undone:
            require_ready([choice for choice in plan.choices if choice.label in {chain.editor for chain in undone}])
        arguments = {**arguments, "out": str(run.resolve()), "retry": tuple(retry)}
        stage = Stage("chains", size, work, {"arguments": arguments}, transfer)
        if undone and not run_stages(launch, [stage]):
            return Outcome(run, already=done_before, before=spent_before, submitted=True)
    remove_logs(launch)
    ends = Counter(str(store.stored_end(run / "chains" / chain.id)) for chain in undone)
    return Outcome(run, dict(ends), done_before, before=spent_before, spent=_spent(run) - spent_before)


def send_inputs(run: Path, place: str, retry: Sequence[str]) -> None:
    """Send jobs the run's description and the done.json of finished chains; chains to be retried are sent whole."""
    paths = [run / "run.json", run / "editors.json", *sorted((run / LOG).glob("*-of-*"))]
    paths = [path for path in paths if path.exists()]
    for done in sorted(run.glob("chains/*/done.json")):
        is_retried = store.read_json(done)["status"] in retry
        paths += [path for path in sorted(done.parent.iterdir()) if is_retried or path == done]
    send(place, "given.tar", [path for path in paths if path.name != LOCK], run)


def _spent(run: Path) -> float:
    return store.cost_so_far(run) if (run / "chains").is_dir() else 0.0


def _refuse_for_jobs(plan: Plan, arguments: Mapping[str, Any]) -> None:
    """Jobs see no files of this machine, and cannot share a limit on money."""
    for choice in plan.choices:
        if editors.trait(choice.editor, "price")() != 0:
            raise UserError(f"{choice.label} costs money, which jobs cannot count together; use --executor local")
        if ".py:" in choice.spec:
            raise UserError(f"{choice.spec} is a file of this machine, which a job does not have; make it a package")
    files = {"--suite": arguments["suite"] if str(arguments["suite"]).endswith(".toml") else None}
    files |= {"--pictures": arguments["pictures"], "--salt-file": arguments["salt_file"]}
    for option, path in files.items():
        if path:
            raise UserError(f"{option} {path} is a local file, which a job does not have; use --executor local")


def finished_files(run: Path) -> Iterable[Path]:
    """The files of finished chains and of the run's description, with every done.json last."""
    paths = []
    for path in sorted(run.rglob("*")):
        parts = path.relative_to(run).parts
        is_complete = parts[0] != "chains" or (len(parts) > 2 and store.is_done(run, parts[1]))
        if path.is_file() and is_complete and path.name != LOCK and path.suffix != UNFINISHED:
            paths.append(path)
    return sorted(paths, key=lambda path: path.name == "done.json")
