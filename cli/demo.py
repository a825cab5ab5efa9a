"""`convergebench demo`: the whole way, on editors that need neither weights nor network."""

import shutil
import sys
import time
from pathlib import Path

import click

DATASET, REPORT = Path("convergebench"), Path("report")


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
    from . import report as reporting
    from . import score as scoring
    from .generate import run

    started = time.monotonic()
    made = planning.make(suites.load(suite))
    runs = Path("runs") / suite
    click.echo(f"1. {len(made.chains)} chains, {made.calls} edits, into {runs}")
    if not run(made, runs, workers, None, (0, 1)).clean:
        sys.exit(1)
    click.echo(f"2. the dataset, into {DATASET}")
    building.run((runs,), DATASET)
    click.echo("3. scores")
    fetch_weights()
    if scoring.run(DATASET).damage:
        sys.exit(1)
    click.echo(f"4. the report, into {REPORT}\n")
    click.echo(reporting.run(DATASET, REPORT)["text"])
    click.echo(f"\nDone in {time.monotonic() - started:.0f} s. What to look at next:")
    command = "convergebench" if shutil.which("convergebench") else sys.argv[0]
    python = "python" if command == "convergebench" else Path(command).with_name("python")
    click.echo(f"  {REPORT / 'index.html'} in a browser")
    click.echo(f"  {command} space {DATASET}")
    click.echo(f"  {python} -c \"import datasets; print(datasets.load_dataset('{DATASET}', 'scores'))\"")


def fetch_weights() -> None:
    """Bring the LPIPS weights once; without them the demo goes on, and says that it does."""
    from convergebench.metric_modules.lpips import weights

    from .weights import watched

    try:
        weights.fetch(("alex",), click.echo, watched)
    except (OSError, ValueError) as error:
        click.echo(f"going on without LPIPS: {error}", err=True)
