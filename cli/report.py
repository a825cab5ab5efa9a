import gc
import json
from collections.abc import Sequence
from pathlib import Path

import click

from ._shared import PATH, json_option


@click.command("report", short_help="Write tables, figures and a page.")
@click.argument("dataset", type=PATH)
@click.option("--out", type=PATH, default="report", show_default=True, help="The report's folder.")
@click.option(
    "--threshold",
    type=float,
    default=0.5,
    show_default=True,
    help="Retained quality below which a round is lost.",
)
@click.option(
    "--framing", type=float, help="Shift or zoom above which a round is lost. Default: framing is not checked."
)
@click.option("--track", metavar="TRACKER", help="Send the curves to trackio, wandb or tensorboard as well.")
@json_option
def command(
    dataset: Path, out: Path, threshold: float, framing: float | None, track: str | None, as_json: bool
) -> None:
    """Write index.html, figures and tables of a scored dataset, and print the headline.

    \b
    convergebench report convergebench --out report
    """
    import convergebench as cb

    def programs_of(suite: str) -> Sequence[str]:
        from convergebench.generation import suites  # loads numpy, and the report first limits its threads

        return suites.load(suite).programs if suite in suites.names() else ()

    gc.set_threshold(100_000)  # many rows and no cycles among them: looking for cycles took a tenth of the time
    board = cb.report(dataset, out, threshold=threshold, framing=framing, programs_of=programs_of)
    values = {"page": str(board.page), "files": board.files, "headline": board.table.title}
    values |= {"chains": board.chains, "rows": board.rows}
    click.echo(json.dumps(values) if as_json else board)
    if track:
        click.echo(f"sent to {track}: {', '.join(cb.track(out, track))}", err=True)
