"""`convergebench space`: shows the leaderboard, the curves and every chain of a dataset in a browser."""

from pathlib import Path

import click


@click.command("space")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(1, 65535), default=7860, show_default=True, help="The port to listen on.")
@click.option("--open", "browser", is_flag=True, help="Open it in the default browser.")
@click.option(
    "--previews", type=click.Path(path_type=Path), help="A folder for the small pictures. Default: a temporary one."
)
def space(dataset: Path, port: int, browser: bool, previews: Path | None) -> None:
    """Serve a scored dataset to a browser on this machine, until Ctrl+C.

    \b
    convergebench space convergebench
    convergebench space convergebench --port 8000 --open
    """
    import os

    from convergebench.generation.records import UserError
    from convergebench.spaces_app.space import served_dataset

    if previews:
        os.environ["CONVERGEBENCH_PREVIEWS"] = str(previews)
    opened = served_dataset.open_dataset(str(dataset))
    try:
        from convergebench.spaces_app import app

        app.serve(opened, port, inbrowser=browser, say=click.echo)
    except ModuleNotFoundError as error:
        raise UserError(f"{error.name} is not installed; pip install 'convergebench[space]'") from error
    except OSError as error:
        raise UserError(f"the Space cannot listen on port {port} ({error}); choose another with --port") from error
