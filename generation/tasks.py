"""Runs `generate` as datatrove tasks, here or on a Slurm cluster."""

from pathlib import Path

from . import cluster, generate, scheduler, store
from .plan import Plan
from .records import UserError, Values


def generate_in_tasks(launch: cluster.Launch, plan: Plan, run: Path, arguments: Values) -> scheduler.Outcome:
    undone = [chain for chain in plan.chains if arguments["retry"] or not store.is_done(run, chain.id)]
    before = store.cost_so_far(run)
    outcome = scheduler.Outcome(run, already=len(plan.chains) - len(undone), before=before)
    if undone:
        labels = {chain.editor for chain in undone}
        scheduler.require_ready([choice for choice in plan.choices if choice.label in labels])
        stage = ("chains", min(launch.tasks, len(plan.chains)), _generate_task, {"arguments": arguments})
        if not cluster.run_stages(launch, [stage]):
            outcome.submitted = True
            return outcome
    cluster.remove_logs(launch)
    ends = (store.read_json(run / "chains" / chain.id / "done.json") for chain in undone)
    outcome.ends.update(str(end["status"]) for end in ends)
    outcome.spent = store.cost_so_far(run) - before
    outcome.failed = scheduler.editors_without_answer(run, plan.chains)
    return outcome


def _generate_task(rank: int, size: int, arguments: Values) -> None:
    outcome = generate(**arguments, shard=f"{rank}/{size}", quiet=True)
    if not outcome.clean:
        raise UserError(outcome.stopped or next(iter({**outcome.left, **outcome.failed}.values())))
