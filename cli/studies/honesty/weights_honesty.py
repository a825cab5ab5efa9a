"""`convergebench weights honesty`: downloads the network that reads words in pictures."""

import click

from ..._shared import json_option
from ..._weights import fetch_and_print


@click.command("honesty", short_help="The network that reads words in pictures.")
@json_option
def command(as_json: bool) -> None:
    """Download the network that reads words in pictures, and keep it in the user's cache.

    \b
    convergebench weights honesty
    """
    from convergebench.metric_modules.honesty.reader import NETWORK

    def fetch() -> dict[str, dict[str, str]]:
        NETWORK.fetch(lambda line: click.echo(line, err=as_json))
        return {"reader": {"path": str(NETWORK.path)}}

    fetch_and_print(fetch, as_json)
