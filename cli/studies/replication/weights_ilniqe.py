"""`convergebench weights ilniqe`: downloads the template of ILNIQE, or takes it from a file."""

from pathlib import Path

import click

from ..._shared import json_option
from ..._weights import fetch_and_print


@click.command("ilniqe", short_help="The template of ILNIQE.")
@click.option(
    "--file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The template's file, if you have it already.",
)
@json_option
def command(file: Path | None, as_json: bool) -> None:
    """Download the template of ILNIQE, check its hash, and keep it in the user's cache.

    \b
    convergebench weights ilniqe
    convergebench weights ilniqe --file ILNIQE_templateModel.mat
    """
    from convergebench.metric_modules.ilniqe import template

    def fetch() -> dict[str, dict[str, str]]:
        template.fetch(lambda line: click.echo(line, err=as_json), file)
        return {"ilniqe": {"path": str(template.path()), "digest": template.load().digest}}

    fetch_and_print(fetch, as_json)
