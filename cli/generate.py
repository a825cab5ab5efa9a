"""`convergebench generate`: asks the editors, step after step, and keeps what they answer."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .plan import planned

if TYPE_CHECKING:
    from convergebench.generation.plan import Plan
    from convergebench.generation.scheduler import Outcome


@click.command("generate")
@planned
@click.option("--out", type=click.Path(path_type=Path), help="The run's folder. Default: runs/SUITE.")
@click.option("--workers", type=click.IntRange(1), default=8, show_default=True, help="Chains under way at once.")
@click.option("--max-cost", type=click.FloatRange(0), help="Stop before more US dollars than this are spent.")
@click.option("--shard", metavar="I/N", help="Only the I-th (from 0) of N parts, for several machines.")
@click.option("--json", "as_json", is_flag=True, help="End with one line of JSON.")
def generate(
    suite: str,
    specs: tuple[str, ...],
    rounds: int | None,
    runs: int | None,
    out: Path | None,
    workers: int,
    max_cost: float | None,
    shard: str | None,
    as_json: bool,
) -> None:
    """Run a plan's chains into a folder; the same command again goes on where it stopped.

    \b
    convergebench generate --suite demo --editor paint --out runs/demo
    accelerate launch --multi_gpu --num_processes 4 -m convergebench.generation --suite v1 --editor diffusers
    """
    from convergebench.generation import plan as planning
    from convergebench.generation import suites

    made = planning.make(suites.load(suite), specs, rounds, runs)
    outcome = run(made, out or Path("runs") / suite, workers, max_cost, part(shard), quiet=as_json)
    if as_json:
        about = {"ends": outcome.ends, "already": outcome.already, "left": outcome.left}
        click.echo(json.dumps({**about, "stopped": outcome.stopped, "spent": round(outcome.spent, 4)}))
    if not outcome.clean:
        sys.exit(1)


def run(
    made: "Plan", out: Path, workers: int, max_cost: float | None, part: tuple[int, int], quiet: bool = False
) -> "Outcome":
    """Generate with a progress bar, and say at the end what there is and what was left alone."""
    from convergebench.generation import plan as planning
    from convergebench.generation import scheduler

    from .progress import bar

    mine = planning.share(made.chains, *part)
    spent = 0.0
    with bar("generate", sum(map(planning.calls, mine)), "steps", quiet) as advance:

        def report(chain: object, step: object) -> None:
            nonlocal spent
            spent += getattr(step, "cost", None) or 0.0
            advance(1, f"${spent:.2f}" if spent else "")

        outcome = scheduler.generate(made, mine, out, workers, max_cost, report)
    if not quiet:
        ends = ", ".join(f"{count} {end}" for end, count in sorted(outcome.ends.items())) or "nothing to do"
        click.echo(f"{out}: {ends}; {outcome.already} were done before; ${outcome.spent:.2f} spent")
    for chain, reason in outcome.left.items():
        click.echo(f"chain {chain} was left alone: {reason}", err=True)
    if outcome.stopped:
        click.echo(f"stopped: {outcome.stopped}", err=True)
    return outcome


def part(shard: str | None) -> tuple[int, int]:
    """This process's share: of --shard, or of the ranks that accelerate launched, or of both."""
    from convergebench.generation.records import UserError

    from .processes import rank_and_size

    rank, size = rank_and_size()
    if shard is None:
        return rank, size
    index, slash, count = shard.partition("/")
    if not (slash and index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise UserError(f"--shard is {shard!r}; it is I/N with I from 0 to N - 1, such as 0/4")
    return int(index) * size + rank, int(count) * size
