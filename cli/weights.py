import importlib
import json
from pathlib import Path

import click

from ._shared import json_option


@click.command("weights", short_help="Download a metric's weights into the user's cache, once.")
@click.argument("metric")
@json_option
def command(metric: str, as_json: bool) -> None:
    """Download the published weights or parameters of a metric, check their hashes, and keep them in the user's cache.

    \b
    convergebench weights lpips
    """
    from convergebench import metric_modules
    from convergebench.generation.records import UserError, one_of

    folders = sorted(path.parent.name for path in Path(metric_modules.__path__[0]).glob("*/measure.py"))
    modules = {name: importlib.import_module(f"convergebench.metric_modules.{name}.measure") for name in folders}
    one_of("metric with weights", metric, [name for name in folders if hasattr(modules[name], "fetch_weights")])
    try:
        files = modules[metric].fetch_weights(lambda line: click.echo(line, err=as_json))
    except FileNotFoundError as error:
        raise UserError(str(error)) from error
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(files))
