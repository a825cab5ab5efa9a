"""`convergebench generate`: calls the editors, step after step, and stores what they answer."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._shared import json_option, progress_bar, rank_and_size
from .plan import plan_options

if TYPE_CHECKING:
    from convergebench.generation.plan import Plan
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
    as_json: bool,
    **selected: Any,
) -> None:
    """Run the chains of a plan into a folder; the same command again resumes and repeats no finished step.

    \b
    convergebench generate --suite demo --editor paint --out runs/demo
    convergebench generate --suite smoke --editor ./my_editor.py:edit --out runs/mine
    accelerate launch --multi_gpu --num_processes 4 -m convergebench.generation --suite v1 --editor diffusers
    """
    from convergebench.generation import plan as planning
    from convergebench.generation import suites
    from convergebench.generation.selection import Selection

    plan = planning.make_plan(suites.load(suite), specs, rounds, runs, Selection(**selected))
    for warning in planning.warnings(plan):
        click.echo(f"warning: {warning}", err=True)
    part, again = parse_shard(shard), parse_retry(retry)
    outcome = run(plan, out or Path("runs") / suite, workers, max_cost, part, quiet=as_json, retry=again)
    if as_json:
        about = {"ends": outcome.ends, "already": outcome.already, "left": outcome.left}
        click.echo(json.dumps({**about, "stopped": outcome.stopped, "spent": round(outcome.spent, 4)}))
    if outcome.abandoned:  # their threads would keep the process for as long as their calls last
        sys.stdout.flush()
        os._exit(1)
    if not outcome.clean:
        sys.exit(1)


def run(
    plan: "Plan",
    out: Path,
    workers: int | None,
    max_cost: float | None,
    part: tuple[int, int],
    quiet: bool = False,
    retry: tuple[str, ...] = (),
) -> "Outcome":
    """Generate with a progress bar, and say at the end how many chains ended how, and which were left as they are."""
    from convergebench.generation import plan as planning
    from convergebench.generation import scheduler

    mine = planning.share(plan.chains, *part)
    if max_cost is not None:
        # The processes of a machine share the run's ledger; another machine may have another disk, and keeps to a part.
        max_cost /= max(1, rank_and_size()[1] // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    spent = 0.0
    with progress_bar("generate", sum(map(planning.call_count, mine)), "steps", quiet) as advance:

        def report(chain: object, step: object) -> None:
            nonlocal spent
            spent += getattr(step, "cost", None) or 0.0
            advance(1, f"${spent:.2f}" if spent else "")

        outcome = scheduler.generate(plan, mine, out, workers, max_cost, report, retry=retry)
    if not quiet:
        ends = ", ".join(f"{count} {end}" for end, count in sorted(outcome.ends.items())) or "nothing to do"
        before = f" after ${outcome.before:.2f} before" if outcome.before else ""
        click.echo(f"{out}: {ends}; {outcome.already} were done before; ${outcome.spent:.2f} spent{before}")
    for chain, reason in outcome.left.items():
        click.echo(f"chain {chain} was left alone: {reason}", err=True)
    if outcome.stopped:
        click.echo(f"stopped: {outcome.stopped}", err=True)
    if outcome.abandoned:
        click.echo(f"{outcome.abandoned} calls were still in flight; the ledger counts them as spent", err=True)
    return outcome


def parse_retry(ends: str | None) -> tuple[str, ...]:
    """The statuses that --retry names."""
    from convergebench.generation.records import one_of

    chosen = tuple(filter(None, (ends or "").split(",")))
    for end in chosen:
        one_of("--retry", end, ("refused", "no_image", "failed", "shrunk"))
    return chosen


def parse_shard(shard: str | None) -> tuple[int, int]:
    """Which part of how many this process runs: --shard, times the processes that accelerate launched."""
    from convergebench.generation.records import UserError

    rank, size = rank_and_size()
    if shard is None:
        return rank, size
    index, slash, count = shard.partition("/")
    if not (slash and index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise UserError(f"--shard is {shard!r}; it is I/N with I from 0 to N - 1, such as 0/4")
    return int(index) * size + rank, int(count) * size
