from pathlib import Path

import click

from ._shared import PATH


@click.command("space", short_help="Browse a scored dataset.")
@click.argument("dataset", type=PATH)
@click.option(
    "--port", type=click.IntRange(1, 65535), default=7860, show_default=True, help="The port to listen on."
)
@click.option("--open", "open_browser", is_flag=True, help="Open it in the default browser.")
def command(dataset: Path, port: int, open_browser: bool) -> None:
    """Serve a scored dataset to a browser on this machine, until Ctrl+C.

    \b
    convergebench space convergebench
    convergebench space convergebench --port 8000 --open
    """
    import convergebench as cb

    cb.space(dataset, port, open_browser=open_browser)
