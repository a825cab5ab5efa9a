"""`convergebench weights brisque`: downloads the published parameters of BRISQUE."""

import click

from ..._shared import json_option
from ..._weights import fetch_and_print


@click.command("brisque", short_help="The parameters of BRISQUE.")
@json_option
def command(as_json: bool) -> None:
    """Download the published parameters of BRISQUE, check their hash, and keep them in the user's cache.

    \b
    convergebench weights brisque
    """
    from convergebench.metric_modules.brisque.measure import PARAMETERS

    def fetch() -> dict[str, dict[str, str]]:
        PARAMETERS.fetch(lambda line: click.echo(line, err=as_json))
        return {"brisque": {"path": str(PARAMETERS.path), "digest": PARAMETERS.sha256}}

    fetch_and_print(fetch, as_json)
