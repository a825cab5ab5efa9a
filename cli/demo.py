"""`convergebench demo`: all verbs up to the report, on editors that need neither weights nor network."""

import shutil
import sys
import time
from pathlib import Path

import click

DATASET, REPORT = Path("convergebench"), Path("report")


@click.command("demo")
@click.option("--suite", default="demo", show_default=True, help="A smaller one is `smoke`.")
@click.option("--workers", type=click.IntRange(1), default=8, show_default=True, help="How many chains run at once.")
def demo(suite: str, workers: int) -> None:
    """Make chains, dataset, scores and report in the current folder; the same command again resumes.

    \b
    convergebench demo
    """
    from convergebench import dataset_builder, metric_modules, spaces_app
    from convergebench.generation import plan as planning
    from convergebench.generation import suites

    from .build import print_built
    from .generate import run
    from .score import print_summary

    started = time.monotonic()
    plan = planning.make_plan(suites.load(suite))
    runs = Path("runs") / suite
    click.echo(f"1. {len(plan.chains)} chains, {plan.calls} edits, into {runs}")
    if not run((), suite, runs, workers=workers).clean:
        sys.exit(1)
    click.echo(f"2. the dataset, into {DATASET}")
    print_built(dataset_builder.build(runs, DATASET))
    click.echo("3. scores")
    fetch_weights()
    outcome = metric_modules.score(DATASET)
    print_summary(DATASET, outcome)
    if outcome.damage:
        sys.exit(1)
    click.echo(f"4. the report, into {REPORT}\n")
    click.echo(spaces_app.report(DATASET, REPORT))
    click.echo(f"\nDone in {time.monotonic() - started:.0f} s. Look at:")
    command = "convergebench" if shutil.which("convergebench") else sys.argv[0]
    python = "python" if command == "convergebench" else Path(command).with_name("python")
    click.echo(f"  {REPORT / 'index.html'} in a browser")
    click.echo(f"  {command} space {DATASET}")
    click.echo(f"  {python} -c \"import datasets; print(datasets.load_dataset('{DATASET}', 'scores'))\"")


def fetch_weights() -> None:
    """Download the LPIPS weights where they are missing; the demo goes on without them, and says so."""
    from convergebench.metric_modules.lpips import weights

    from .weights import download_bar

    try:
        weights.fetch(("alex",), click.echo, download_bar)
    except (OSError, ValueError) as error:
        click.echo(f"going on without LPIPS: {error}", err=True)
