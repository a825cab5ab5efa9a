import importlib
import json
from pathlib import Path

import click

from .._shared import json_option


@click.command("weights", short_help="Download a metric's weights into the user's cache, once.")
@click.argument("metric", required=False)
@click.option("--all", "every", is_flag=True, help="Of every metric whose weights are in a package.")
@json_option
def command(metric: str | None, every: bool, as_json: bool) -> None:
    """Download the published weights or parameters of a metric, check their hashes, and keep them in the user's cache.

    \b
    convergebench weights lpips
    convergebench weights --all
    """
    from convergebench import metric_modules
    from convergebench.generation.records import UserError, one_of

    folders = sorted(path.parent.name for path in Path(metric_modules.__path__[0]).glob("*/measure.py"))
    modules = {name: importlib.import_module(f"convergebench.metric_modules.{name}.measure") for name in folders}
    fetched = [name for name in folders if hasattr(modules[name], "fetch_weights")]
    if every == bool(metric):
        raise UserError(f"name one metric, or give --all; those with weights are {', '.join(fetched)}")
    if metric:
        one_of("metric with weights", metric, fetched)
    files: dict[str, object] = {}
    failed: list[Exception] = []
    for name in [metric] if metric else fetched:  # one that cannot be had does not keep the others away
        try:
            files |= modules[name].fetch_weights(lambda line: click.echo(line, err=as_json))
        except (OSError, ValueError) as error:
            failed.append(error)
    if as_json and (files or not failed):
        click.echo(json.dumps(files))
    reasons = "\n".join(map(str, failed))
    if any(isinstance(error, FileNotFoundError) for error in failed):
        raise UserError(reasons)
    if failed:
        raise click.ClickException(reasons)
