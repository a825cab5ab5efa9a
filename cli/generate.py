import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._shared import PATH, executor_options, json_option, plan_options

if TYPE_CHECKING:
    from convergebench.generation.scheduler import Outcome


@click.command("generate", short_help="Call the editors and store their answers; resumes.")
@plan_options
@click.option("--out", type=PATH, help="The run's folder. Default: runs/SUITE.")
@click.option(
    "--workers", type=click.IntRange(1), help="Chains run at once. Default: 8, or the editors' own limit."
)
@click.option(
    "--max-cost", type=click.FloatRange(0), help="Most US dollars that the run may cost, all processes together."
)
@click.option(
    "--retry", metavar="STATUS,...", help="Repeat chains that ended as refused, no_image, failed or shrunk."
)
@executor_options
@json_option
def command(
    suite: str, specs: tuple[str, ...], retry: str | None, out: Path | None, as_json: bool, **options: Any
) -> None:
    """Run the chains of a plan into a folder; the same command again resumes it.

    \b
    convergebench generate --suite demo --editor paint --out runs/demo
    convergebench generate --suite smoke --editor ./my_editor.py:edit \\
      --out runs/mine
    accelerate launch --multi_gpu --num_processes 4 -m convergebench.generation \\
      --suite v1 --editor diffusers
    """
    ends = tuple(filter(None, (retry or "").split(",")))
    outcome = _run_and_report(specs, suite, out, as_json, retry=ends, **options)
    if outcome.abandoned:  # threads still waiting for an answer would keep the process alive
        sys.stdout.flush()
        os._exit(1)
    if not outcome.clean:
        sys.exit(1)


def _run_and_report(
    specs: tuple[str, ...], suite: str, out: Path | None, as_json: bool = False, **options: Any
) -> "Outcome":
    import convergebench as cb

    outcome = cb.generate(specs, suite, out, quiet=as_json, **options)
    if as_json:
        names = ("ends", "already", "left", "stopped", "failed", "spent", "submitted")
        click.echo(json.dumps({name: getattr(outcome, name) for name in names}))
    elif outcome.submitted:
        click.echo(f"{outcome.run}: submitted; `convergebench status` shows its progress")
    else:
        ends = ", ".join(f"{count} {end}" for end, count in sorted(outcome.ends.items()))
        ends = ends or ("no chain was finished" if outcome.stopped else "nothing to do")
        before = f" after ${outcome.before:.2f} before" if outcome.before else ""
        spent = f"${outcome.spent:.2f} spent{before}"
        click.echo(f"{outcome.run}: {ends}; {outcome.already} were done before; {spent}")
    for chain, reason in outcome.left.items():
        click.echo(f"chain {chain} was skipped: {reason}", err=True)
    for label, reason in outcome.failed.items():
        click.echo(f"{label}: no call had an answer; the first one: {reason}", err=True)
    if outcome.stopped:
        click.echo(f"stopped: {outcome.stopped}", err=True)
    if outcome.abandoned:
        click.echo(f"{outcome.abandoned} calls were still in flight; the ledger counts them as spent", err=True)
    return outcome
