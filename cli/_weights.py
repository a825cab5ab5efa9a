"""What the kinds of `convergebench weights` share."""

import hashlib
import importlib
import json
from collections.abc import Callable, Mapping

import click

from ._shared import json_option


def fetch_and_print(fetch: Callable[[], Mapping[str, Mapping[str, str]]], as_json: bool) -> None:
    """Fetch weights; with --json print where they are and their digests."""
    from convergebench.generation.packages import Unavailable
    from convergebench.generation.records import UserError

    try:
        places = fetch()
    except FileNotFoundError as error:
        raise UserError(str(error)) from error
    except (OSError, ValueError, Unavailable) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(places))


def parameters_command(metric: str, owner: str = "") -> click.Command:
    owner = owner or metric.upper()

    @click.command(metric, short_help=f"The parameters of {owner}.")
    @json_option
    def command(as_json: bool) -> None:
        parameters = importlib.import_module(f"convergebench.metric_modules.{metric}.measure").PARAMETERS

        def fetch() -> dict[str, dict[str, str]]:
            parameters.fetch(lambda line: click.echo(line, err=as_json))
            digest = hashlib.sha256(parameters.load()).hexdigest()
            return {metric: {"path": str(parameters.path), "digest": digest}}

        fetch_and_print(fetch, as_json)

    command.help = (
        f"Download the published parameters of {owner}, and keep them in the user's cache.\n\n"
        f"\b\nconvergebench weights {metric}"
    )
    return command
