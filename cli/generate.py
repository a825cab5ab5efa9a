"""`convergebench generate`: calls the editors, step after step, and stores what they answer."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._shared import executor_options, json_option
from .plan import plan_options

if TYPE_CHECKING:
    from convergebench.generation.scheduler import Outcome


@click.command("generate")
@plan_options
@click.option("--out", type=click.Path(path_type=Path), help="The run's folder. Default: runs/SUITE.")
@click.option(
    "--workers", type=click.IntRange(1), help="How many chains run at once. Default: 8, or the editors' own limit."
)
@click.option(
    "--max-cost",
    type=click.FloatRange(0),
    help="Stop before the run has cost more US dollars than this, by all its processes.",
)
@click.option(
    "--retry", metavar="STATUS,...", help="Run again the chains that ended refused, no_image, failed or shrunk."
)
@click.option("--shard", metavar="I/N", help="Only part I of N, counted from 0; for several machines.")
@click.option("--trackio", metavar="PROJECT", help="Draw the run's progress with trackio: pip install trackio.")
@executor_options
@json_option
def generate(
    suite: str,
    specs: tuple[str, ...],
    rounds: int | None,
    runs: int | None,
    out: Path | None,
    workers: int | None,
    max_cost: float | None,
    retry: str | None,
    shard: str | None,
    trackio: str | None,
    executor: str | None,
    tasks: int | None,
    logs: str | None,
    executor_args: tuple[str, ...],
    as_json: bool,
    **selected: Any,
) -> None:
    """Run the chains of a plan into a folder; the same command again resumes and repeats no finished step.

    \b
    convergebench generate --suite demo --editor paint --out runs/demo
    convergebench generate --suite smoke --editor ./my_editor.py:edit --out runs/mine
    accelerate launch --multi_gpu --num_processes 4 -m convergebench.generation --suite v1 --editor diffusers
    """
    from convergebench.generation.cluster import parse_arguments

    words = {"rounds": rounds, "runs": runs, "workers": workers, "max_cost": max_cost, "shard": shard, **selected}
    words |= {"executor": executor, "tasks": tasks, "logs": logs, "executor_args": parse_arguments(executor_args)}
    ends = tuple(filter(None, (retry or "").split(",")))
    outcome = run(specs, suite, out, quiet=as_json, retry=ends, trackio=trackio, **words)
    if outcome.submitted:
        where = f"{out or Path('runs') / suite}: submitted; `convergebench status` says how far it is"
        click.echo(json.dumps({"submitted": True}) if as_json else where)
        return
    if as_json:
        about = {"ends": outcome.ends, "already": outcome.already, "left": outcome.left}
        click.echo(json.dumps({**about, "stopped": outcome.stopped, "spent": round(outcome.spent, 4)}))
    if outcome.abandoned:  # their threads would keep the process for as long as their calls last
        sys.stdout.flush()
        os._exit(1)
    if not outcome.clean:
        sys.exit(1)


def run(specs: tuple[str, ...], suite: str, out: Path | None, quiet: bool = False, **words: Any) -> "Outcome":
    """Generate, and say at the end how many chains ended how, and which were left as they are."""
    from convergebench import generation

    outcome = generation.generate(specs, suite, out, quiet=quiet, **words)
    if not quiet and not outcome.submitted:
        ends = ", ".join(f"{count} {end}" for end, count in sorted(outcome.ends.items())) or "nothing to do"
        before = f" after ${outcome.before:.2f} before" if outcome.before else ""
        click.echo(f"{outcome.run}: {ends}; {outcome.already} were done before; ${outcome.spent:.2f} spent{before}")
    for chain, reason in outcome.left.items():
        click.echo(f"chain {chain} was left alone: {reason}", err=True)
    if outcome.stopped:
        click.echo(f"stopped: {outcome.stopped}", err=True)
    if outcome.abandoned:
        click.echo(f"{outcome.abandoned} calls were still in flight; the ledger counts them as spent", err=True)
    return outcome
