"""A run in parts by datatrove: each task runs its share of the chains into the one folder, as `--shard I/N` does."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

from . import editors, store
from .carried import Carry, arriving, make_place, send
from .cluster import Launch, Stage, launch_of, remove_logs, run_stages
from .files import LOCK, UNFINISHED
from .plan import Plan
from .records import Chain, UserError
from .run_log import FOLDER as LOG
from .scheduler import Outcome, require_ready


def work(rank: int, size: int, words: Mapping[str, Any], folder: Path | None = None) -> None:
    """One task: its share of the chains, each of which is left as it is where it is done."""
    from . import generate

    told = {**words, "out": folder or words["out"]}
    outcome = generate(**told, shard=f"{rank}/{size}", quiet=True)
    if not outcome.clean:
        left = [f"chain {name} was left alone: {reason}" for name, reason in outcome.left.items()]
        raise UserError(outcome.stopped or left[0])


def generate_by(
    executor: str,
    tasks: int | None,
    logs: str | None,
    arguments: Mapping[str, Any],
    plan: Plan,
    run: Path,
    retry: Sequence[str],
    words: Mapping[str, Any],
) -> Outcome:
    """Run a plan by an executor of datatrove's; where it is submitted only, `convergebench status` follows it."""
    launch = launch_of(executor, tasks, logs, arguments, run, f"generate-{run.resolve().name}-")
    size = min(launch.tasks, len(plan.chains))
    key = sha256(repr([sorted(chain.id for chain in plan.chains), size, sorted(retry)]).encode()).hexdigest()[:16]
    launch = Launch(launch.executor, size, launch.logs + key, launch.arguments)
    carry = None
    if executor == "jobs":
        refuse_for_jobs(plan, words)
        make_place(launch.logs)
        carry = Carry(f"{launch.logs}/carried", finished_files, "folder", given=f"{launch.logs}/given")
    with arriving(carry.place, run) if carry else nullcontext():
        undone = [chain for chain in plan.chains if retry or not store.is_done(run, chain.id)]
        before, done_before = spent(run), len(plan.chains) - len(undone)
        if carry and undone:
            give(run, carry.given, retry)
        elif undone:
            require_ready([choice for choice in plan.choices if choice.label in {chain.editor for chain in undone}])
        told = {**words, "out": str(run.resolve()), "retry": tuple(retry)}
        if undone and not run_stages(launch, [Stage("chains", size, work, {"words": told}, carry)]):
            return Outcome(run, already=done_before, before=before, submitted=True)
    remove_logs(launch)
    ends = Counter(end_of(run, chain) for chain in undone)
    return Outcome(run, dict(ends), done_before, before=before, spent=spent(run) - before)


def give(run: Path, place: str, retry: Sequence[str]) -> None:
    """Tell jobs what the run is and which chains are done, by their marks; those to be asked again go as they are."""
    about = [run / "run.json", run / "editors.json", *sorted((run / LOG).glob("*-of-*"))]
    files = [path for path in about if path.exists()]
    for done in sorted(run.glob("chains/*/done.json")):
        again = store.read_json(done)["status"] in retry
        files += [path for path in sorted(done.parent.iterdir()) if again or path == done]
    named = [(path, path.relative_to(run).as_posix()) for path in files if path.name != LOCK]
    send(place, "given.tar", named)


def spent(run: Path) -> float:
    return store.cost_so_far(run) if (run / "chains").is_dir() else 0.0


def end_of(run: Path, chain: Chain) -> str:
    return str(store.stored_end(run / "chains" / chain.id))


def refuse_for_jobs(plan: Plan, words: Mapping[str, Any]) -> None:
    """A job has this machine's files as little as it knows what other jobs spend."""
    for choice in plan.choices:
        if editors.trait(choice.editor, "price")() != 0:
            raise UserError(f"{choice.label} costs money, which jobs cannot count together; use --executor local")
        if ".py:" in choice.spec:
            raise UserError(f"{choice.spec} is a file of this machine, which a job does not have; make it a package")
    files = {"--suite": words["suite"] if str(words["suite"]).endswith(".toml") else None}
    files |= {"--pictures": words["pictures"], "--salt-file": words["salt_file"]}
    for option, path in files.items():
        if path:
            raise UserError(f"{option} {path} is of this machine, which a job does not have; use --executor local")


def finished_files(run: Path) -> Iterable[Path]:
    """What is carried of a run: its finished chains and what describes them; the marks that they are done come last."""
    found = []
    for path in sorted(run.rglob("*")):
        below = path.relative_to(run).parts
        of_chain = below[0] == "chains"
        whole = not of_chain or (len(below) > 2 and store.is_done(run, below[1]))
        if path.is_file() and whole and path.name != LOCK and path.suffix != UNFINISHED:
            found.append(path)
    return sorted(found, key=lambda path: path.name == "done.json")
