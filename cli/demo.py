"""`convergebench demo`: the whole way, on editors that need neither weights nor network."""

import sys
import time
from pathlib import Path

import click


@click.command("demo")
@click.option("--suite", default="demo", show_default=True, help="A smaller one is `smoke`.")
@click.option("--workers", type=click.IntRange(1), default=8, show_default=True, help="Chains under way at once.")
def demo(suite: str, workers: int) -> None:
    """Chains, dataset, scores and report, into the current folder; the same command again goes on where it stopped.

    \b
    convergebench demo
    """
    from convergebench.generation import plan as planning
    from convergebench.generation import suites

    from . import build as building
    from .generate import run

    started = time.monotonic()
    made = planning.make(suites.load(suite))
    runs = Path("runs") / suite
    click.echo(f"1. {len(made.chains)} chains, {made.calls} edits, into {runs}")
    if not run(made, runs, workers, None, (0, 1)).clean:
        sys.exit(1)
    click.echo("2. the dataset, into convergebench")
    building.run((runs,), Path("convergebench"))
    click.echo(f"\nDone in {time.monotonic() - started:.0f} s. What to look at next:")
    click.echo("  python -c \"import datasets; print(datasets.load_dataset('convergebench'))\"")
