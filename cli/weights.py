"""`convergebench weights`: bring a metric's weights into the user's cache, once."""

import contextlib
import json
from collections.abc import Callable, Iterator

import click


@click.command("weights")
@click.argument("metric", type=click.Choice(["lpips"]))
@click.option(
    "--net", "nets", type=click.Choice(["alex", "vgg"]), multiple=True, help="Only this network; both unless told."
)
@click.option("--json", "as_json", is_flag=True, help="End with one line of JSON.")
def weights(metric: str, nets: tuple[str, ...], as_json: bool) -> None:
    """Fetch the weights of a metric, check them whole, and keep them in the user's cache.

    \b
    convergebench weights lpips
    convergebench weights lpips --net alex
    """
    from convergebench.metric_modules.lpips import weights as lpips

    wanted = nets or lpips.NETS
    try:
        lpips.fetch(wanted, lambda line: click.echo(line, err=as_json), watched)
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({net: {"path": str(lpips.path(net)), "digest": lpips.load(net)[1]} for net in wanted}))


@contextlib.contextmanager
def watched(name: str, megabytes: int) -> Iterator[Callable[[], None]]:
    """A bar over a download, where someone watches."""
    from .progress import bar

    with bar(name, megabytes, "MB") as advance:
        yield lambda: advance(1, "")
