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
@click.option("--workers", type=click.IntRange(1), help="Chains at once. Default: 8, or what the editors take.")
@click.option("--max-cost", type=click.FloatRange(0), help="Stop before the run has cost more US dollars than this.")
@click.option("--retry", metavar="END,...", help="Ask again where a chain ended so: refused, no_image, failed.")
@click.option("--shard", metavar="I/N", help="Only the I-th (from 0) of N parts, for several machines.")
@click.option("--json", "as_json", is_flag=True, help="End with one line of JSON.")
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
) -> None:
    """Run a plan's chains into a folder; the same command again goes on where it stopped.

    \b
    convergebench generate --suite demo --editor paint --out runs/demo
    accelerate launch --multi_gpu --num_processes 4 -m convergebench.generation --suite v1 --editor diffusers
    """
    from convergebench.generation import plan as planning
    from convergebench.generation import suites

    made = planning.make(suites.load(suite), specs, rounds, runs)
    chosen = retried(retry)
    outcome = run(made, out or Path("runs") / suite, workers, max_cost, part(shard), quiet=as_json, retry=chosen)
    if as_json:
        about = {"ends": outcome.ends, "already": outcome.already, "left": outcome.left}
        click.echo(json.dumps({**about, "stopped": outcome.stopped, "spent": round(outcome.spent, 4)}))
    if not outcome.clean:
        sys.exit(1)


def run(
    made: "Plan",
    out: Path,
    workers: int | None,
    max_cost: float | None,
    part: tuple[int, int],
    quiet: bool = False,
    retry: tuple[str, ...] = (),
) -> "Outcome":
    """Generate with a progress bar, and say at the end what there is and what was left alone."""
    from convergebench.generation import plan as planning
    from convergebench.generation import scheduler

    from .processes import rank_and_size
    from .progress import bar

    mine = planning.share(made.chains, *part)
    if max_cost is not None:
        max_cost /= rank_and_size()[1]  # every process that accelerate launched keeps to its own part
    spent = 0.0
    with bar("generate", sum(map(planning.calls, mine)), "steps", quiet) as advance:

        def report(chain: object, step: object) -> None:
            nonlocal spent
            spent += getattr(step, "cost", None) or 0.0
            advance(1, f"${spent:.2f}" if spent else "")

        outcome = scheduler.generate(made, mine, out, workers, max_cost, report, retry=retry)
    if not quiet:
        ends = ", ".join(f"{count} {end}" for end, count in sorted(outcome.ends.items())) or "nothing to do"
        before = f" after ${outcome.before:.2f} before" if outcome.before else ""
        click.echo(f"{out}: {ends}; {outcome.already} were done before; ${outcome.spent:.2f} spent{before}")
    for chain, reason in outcome.left.items():
        click.echo(f"chain {chain} was left alone: {reason}", err=True)
    if outcome.stopped:
        click.echo(f"stopped: {outcome.stopped}", err=True)
    return outcome


def retried(ends: str | None) -> tuple[str, ...]:
    """The ends of chains that are asked for again, as given."""
    from convergebench.generation.records import one_of

    chosen = tuple(filter(None, (ends or "").split(",")))
    for end in chosen:
        one_of("--retry", end, ("refused", "no_image", "failed", "shrunk"))
    return chosen


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
