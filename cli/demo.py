import importlib.util
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

import click


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
    folder = Path(sys.executable).parent
    is_on_path = Path(shutil.which("convergebench") or "").parent == folder
    with suppress(ValueError):  # as a shell in this folder starts them
        folder = folder.relative_to(Path.cwd())
    if importlib.util.find_spec("gradio"):
        click.echo(f"  {'convergebench' if is_on_path else folder / 'convergebench'} space {finished.dataset}")
    words = f"import datasets; print(datasets.load_dataset('{finished.dataset}', 'scores'))"
    click.echo(f'  {folder}/python -c "{words}"')
