import importlib.util
import time

import click

from ._shared import command_here


@click.command("demo", short_help="Everything on small editors, in two minutes.")
@click.option("--suite", default="demo", show_default=True, help="A smaller one is `smoke`.")
@click.option("--workers", type=click.IntRange(1), default=8, show_default=True, help="Chains run at once.")
def command(suite: str, workers: int) -> None:
    """Make chains, dataset, scores and report in the current folder; the same command again resumes.

    \b
    convergebench demo
    """
    import convergebench as cb

    started = time.monotonic()
    finished = cb.demo(suite, workers=workers)
    click.echo(f"{finished}\n\nDone in {time.monotonic() - started:.0f} s. Look at:")
    click.echo(f"  {finished.board.page} in a browser")
    python, convergebench = command_here()
    if importlib.util.find_spec("gradio"):
        click.echo(f"  {convergebench} space {finished.dataset}")
    words = f"import datasets; print(datasets.load_dataset('{finished.dataset}', 'scores'))"
    click.echo(f'  {python} -c "{words}"')
