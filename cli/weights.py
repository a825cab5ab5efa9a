"""`convergebench weights`: downloads a metric's weights into the user's cache, once."""

import contextlib
import json
from collections.abc import Callable, Iterator

import click

from ._shared import json_option


@click.command("weights")
@click.argument("metric", type=click.Choice(["honesty", "lpips"]))
@click.option(
    "--net", "nets", type=click.Choice(["alex", "vgg"]), multiple=True, help="Only this network. Default: both."
)
@json_option
def weights(metric: str, nets: tuple[str, ...], as_json: bool) -> None:
    """Download the weights of a metric, check their hash, and keep them in the user's cache.

    \b
    convergebench weights lpips
    convergebench weights lpips --net alex
    convergebench weights honesty
    """
    from convergebench.generation.records import UserError

    if metric == "honesty":
        from convergebench.generation.packages import Unavailable
        from convergebench.metric_modules.honesty import reader

        try:
            kept = reader.fetch()
        except (OSError, ValueError, Unavailable) as error:
            raise click.ClickException(f"the reader of words did not arrive: {error}") from error
        click.echo(json.dumps({"reader": {"path": str(kept)}}) if as_json else f"{kept} is here")
        return
    from convergebench.metric_modules.lpips import weights as lpips

    wanted = nets or lpips.NETS
    try:
        lpips.require_packages()
    except lpips.PackageAbsent as error:
        raise UserError(str(error)) from error
    try:
        lpips.fetch(wanted, lambda line: click.echo(line, err=as_json), download_bar)
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({net: {"path": str(lpips.path(net)), "digest": lpips.load(net)[1]} for net in wanted}))


@contextlib.contextmanager
def download_bar(name: str, megabytes: int) -> Iterator[Callable[[], None]]:
    """A progress bar over a download."""
    from convergebench.generation.progress import progress_bar

    with progress_bar(name, megabytes, "MB") as advance:
        yield lambda: advance(1, "")
