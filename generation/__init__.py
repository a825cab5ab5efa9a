"""Generates chains: plans what to ask of which editor, asks it, and stores the answers."""

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .records import Refused

if TYPE_CHECKING:
    from .plan import Plan
    from .records import Chain, Step
    from .scheduler import Outcome

__all__ = ["Refused", "generate"]


def generate(
    editor: "Callable[..., Any] | str | Sequence[Callable[..., Any] | str]" = (),
    suite: str | Path = "demo",
    out: str | Path | None = None,
    *,
    name: str | None = None,
    version: str | None = None,
    rounds: int | None = None,
    runs: int | None = None,
    concurrency: int | None = None,
    workers: int | None = None,
    max_cost: float | None = None,
    retry: Collection[str] = (),
    shard: str | None = None,
    pictures: str | Path | None = None,
    kind: str | None = None,
    audit: bool = True,
    salt_file: str | Path | None = None,
    policies: Sequence[str] = (),
    executor: str | None = None,
    tasks: int | None = None,
    logs: str | None = None,
    executor_args: Mapping[str, object] | None = None,
    quiet: bool = False,
    **selection: Any,
) -> "Outcome":
    """Run a suite with an editor: your own function, an `--editor` such as "jpeg:quality=40", or a list of both.

    Your function is `edit(image, instruction, seed)`: it takes a PIL picture, returns one or the
    bytes of a file, and raises `Refused` to decline. It may be async; `concurrency` calls run at
    once. Calling generate again with the same arguments resumes, as long as the editor has the same
    `name` and `version`, by default the function's name and a hash of its file. Lists of `programs`,
    `categories`, `kinds` and `sources` choose cases, and `limit` takes a balanced few of them.
    Without an editor, those of the suite run. `suite` may be your own .toml file; `pictures` is a
    folder of your own originals, which are of this `kind`. `audit=False` disturbs no chain to find
    editors that remember the original. `policies` are what a product does around the editor, such as
    "paste-back" or "align+paste-back"; "none" is the editor alone. With several, the cases run under
    each. `salt_file` holds the secret that chooses the audits; keep it until the results are out.
    `executor` (local or slurm) runs `tasks` parts through datatrove; slurm only submits them.
    """
    from . import audits, editors, plan, suites
    from .records import UserError, one_of

    for end in retry:
        one_of("--retry", end, ("refused", "no_image", "failed", "shrunk"))
    editor_options = {"name": name, "version": version, "concurrency": concurrency}
    options = {key: str(value) for key, value in editor_options.items() if value is not None}
    choices = editors.chosen(editor, options)
    loaded, salt = suites.load(str(suite), pictures, kind), audits.read_salt(salt_file)
    planned = plan.make_plan(loaded, choices, rounds, runs, audit, salt, policies, **selection)
    for warning in plan.warnings(planned):
        print(f"warning: {warning}", file=sys.stderr)
    run = Path(out) if out is not None else Path("runs") / planned.suite.name
    if executor is None:
        return _generate_share(planned, run, shard, workers, max_cost, retry, quiet)
    if not all(isinstance(choice, str) for choice in choices):
        raise UserError("a function cannot be sent to tasks; give it as ./mine.py:edit")
    arguments: dict[str, object] = {"editor": choices, "suite": str(suite), "rounds": rounds, "runs": runs}
    arguments |= {"workers": workers, "max_cost": max_cost, "pictures": pictures, "kind": kind, "audit": audit}
    arguments |= {"retry": tuple(retry), "salt_file": salt_file, "out": str(run.resolve())}
    arguments |= {"policies": tuple(policies), **editor_options, **selection}
    from . import cluster
    from . import tasks as by_tasks

    launch = cluster.launch_of(executor, tasks, logs, executor_args, run, "generate")
    return by_tasks.generate_in_tasks(launch, planned, run, arguments)


def _generate_share(
    planned: "Plan",
    run: Path,
    shard: str | None,
    workers: int | None,
    max_cost: float | None,
    retry: Collection[str],
    quiet: bool,
) -> "Outcome":
    """The chains of a plan that are this process's to run."""
    from . import scheduler, shares
    from .progress import progress_bar

    index, parts = shares.part(shard)
    chains = shares.share(planned.chains, lambda chain: chain.calls, lambda chain: chain.id, index, parts)
    if max_cost is not None:
        # The processes of one machine share the run's ledger; each machine gets a share of the limit.
        max_cost /= shares.machines()
    title = "generate" if parts == 1 else f"generate, part {index + 1} of {parts}"
    with progress_bar(title, sum(chain.calls for chain in chains), "steps", quiet) as advance:
        spent = 0.0

        def report(chain: "Chain", step: "Step") -> None:
            nonlocal spent
            spent += step.cost or 0.0
            advance(1, f"${spent:.2f}" if spent else "")

        return scheduler.generate(planned, chains, run, workers, max_cost, report, retry=retry)
