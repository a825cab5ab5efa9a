"""`convergebench demo`: chains, dataset, scores and report of a small suite, in the current folder."""

import sys
import time
from pathlib import Path

import click

_DATASET, _REPORT = Path("convergebench"), Path("report")


@click.command("demo", short_help="Everything on small editors, in two minutes.")
@click.option("--suite", default="demo", show_default=True, help="A smaller one is `smoke`.")
@click.option("--workers", type=click.IntRange(1), default=8, show_default=True, help="Chains run at once.")
def command(suite: str, workers: int) -> None:
    """Make chains, dataset, scores and report in the current folder; the same command again resumes.

    \b
    convergebench demo
    """
    import convergebench as cb
    from convergebench.metric_modules.lpips import weights

    from .build import print_built
    from .generate import run_and_report
    from .score import print_summary

    started = time.monotonic()
    plan = cb.plan((), suite)
    run = Path("runs") / suite
    click.echo(f"1. {len(plan.chains)} chains, {sum(chain.calls for chain in plan.chains)} edits, into {run}")
    if not run_and_report((), suite, run, workers=workers).clean:
        sys.exit(1)
    click.echo(f"2. the dataset, into {_DATASET}")
    print_built(cb.build(run, _DATASET))
    click.echo("3. scores")
    try:
        weights.fetch(click.echo, ("alex",))
    except (OSError, ValueError) as error:
        click.echo(f"continuing without LPIPS: {error}", err=True)
    outcome = cb.score(_DATASET)
    print_summary(_DATASET, outcome)
    if outcome.damage:
        sys.exit(1)
    click.echo(f"4. the report, into {_REPORT}\n")
    click.echo(cb.report(_DATASET, _REPORT))
    click.echo(f"\nDone in {time.monotonic() - started:.0f} s. Look at:")
    click.echo(f"  {_REPORT / 'index.html'} in a browser")
    click.echo(f"  convergebench space {_DATASET}")
    click.echo(f"  python -c \"import datasets; print(datasets.load_dataset('{_DATASET}', 'scores'))\"")
