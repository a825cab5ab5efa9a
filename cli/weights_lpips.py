"""`convergebench weights lpips`: downloads the networks of LPIPS."""

import click

from ._shared import json_option
from ._weights import fetch_and_print


@click.command("lpips", short_help="The networks of LPIPS.")
@click.option("--net", "nets", type=click.Choice(["alex", "vgg"]), multiple=True, help="Only this network; repeatable.")
@json_option
def command(nets: tuple[str, ...], as_json: bool) -> None:
    """Download the networks of LPIPS, check their hashes, and keep them in the user's cache.

    \b
    convergebench weights lpips
    convergebench weights lpips --net alex
    """
    from convergebench.metric_modules.lpips import weights

    names = nets or weights.NETS

    def fetch() -> dict[str, dict[str, str]]:
        weights.fetch(names, lambda line: click.echo(line, err=as_json))
        return {name: {"path": str(weights.path(name)), "digest": weights.load(name)[1]} for name in names}

    fetch_and_print(fetch, as_json)
