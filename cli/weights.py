"""`convergebench weights`: downloads a metric's weights into the user's cache, once."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from ._shared import json_option


@click.command("weights")
@click.argument("metric", type=click.Choice(["brisque", "honesty", "ilniqe", "lpips", "niqe"]))
@click.option(
    "--net",
    "nets",
    type=click.Choice(["alex", "vgg"]),
    multiple=True,
    help="Of LPIPS this network only. Default: both.",
)
@click.option(
    "--file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Of ilniqe: the template's file, where the Hub is out of reach.",
)
@json_option
def weights(metric: str, nets: tuple[str, ...], file: Path | None, as_json: bool) -> None:
    """Download the weights or parameters of a metric, check their hash, and keep them in the user's cache.

    \b
    convergebench weights lpips
    convergebench weights lpips --net alex
    convergebench weights honesty
    convergebench weights niqe
    convergebench weights ilniqe --file ILNIQE_templateModel.mat
    """
    from convergebench.generation.records import UserError

    if nets and metric != "lpips":
        raise UserError(f"--net {nets[0]} was given with {metric}; only lpips has networks to choose from")
    if file and metric != "ilniqe":
        raise UserError(f"--file {file} was given with {metric}; only ilniqe takes a file")
    try:
        if metric == "honesty":
            found = honesty_reader(as_json)
        elif metric == "ilniqe":
            found = ilniqe_template(file, as_json)
        else:
            found = lpips_weights(nets, as_json) if metric == "lpips" else published_parameters(metric, as_json)
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(found))


def honesty_reader(quiet: bool) -> dict[str, dict[str, str]]:
    """Fetch the network that reads words; where it is."""
    from convergebench.generation.packages import Unavailable
    from convergebench.metric_modules.honesty import reader

    try:
        kept = reader.fetch()
    except (OSError, ValueError, Unavailable) as error:
        raise ConnectionError(f"the reader of words did not arrive: {error}") from error
    click.echo(f"{kept} is here", err=quiet)
    return {"reader": {"path": str(kept)}}


def lpips_weights(nets: tuple[str, ...], quiet: bool) -> dict[str, dict[str, str]]:
    """Fetch the networks of LPIPS; where each is and its digest."""
    from convergebench.generation.records import UserError
    from convergebench.metric_modules.lpips import weights as lpips

    wanted = nets or lpips.NETS
    try:
        lpips.require_packages()
    except lpips.PackageAbsent as error:
        raise UserError(str(error)) from error
    lpips.fetch(wanted, lambda line: click.echo(line, err=quiet), download_bar)
    return {net: {"path": str(lpips.path(net)), "digest": lpips.load(net)[1]} for net in wanted}


def ilniqe_template(file: Path | None, quiet: bool) -> dict[str, dict[str, str]]:
    """Fetch the template of ILNIQE, or take it from a file; where it is and its digest."""
    from convergebench.metric_modules.ilniqe import template

    template.fetch(lambda line: click.echo(line, err=quiet), file)
    return {"ilniqe": {"path": str(template.path()), "digest": template.load().digest}}


def published_parameters(metric: str, quiet: bool) -> dict[str, dict[str, str]]:
    """Fetch the published parameters of a no-reference metric; where they are and their digest."""
    from convergebench.metric_modules._shared import parameters

    parameters.fetch(metric, lambda line: click.echo(line, err=quiet))
    about = {"path": str(parameters.path(metric)), "digest": parameters.PUBLISHED[metric].file_sha256}
    return {metric: about}


@contextlib.contextmanager
def download_bar(name: str, megabytes: int) -> Iterator[Callable[[], None]]:
    """A progress bar over a download."""
    from convergebench.generation.progress import progress_bar

    with progress_bar(name, megabytes, "MB") as advance:
        yield lambda: advance(1, "")
