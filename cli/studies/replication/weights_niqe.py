"""`convergebench weights niqe`: downloads the published parameters of NIQE."""

import click

from ..._shared import json_option
from ..._weights import fetch_and_print


@click.command("niqe", short_help="The parameters of NIQE.")
@json_option
def command(as_json: bool) -> None:
    """Download the published parameters of NIQE, check their hash, and keep them in the user's cache.

    \b
    convergebench weights niqe
    """
    from convergebench.metric_modules.niqe.measure import PARAMETERS

    def fetch() -> dict[str, dict[str, str]]:
        PARAMETERS.fetch(lambda line: click.echo(line, err=as_json))
        return {"niqe": {"path": str(PARAMETERS.path), "digest": PARAMETERS.sha256}}

    fetch_and_print(fetch, as_json)
