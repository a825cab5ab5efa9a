from pathlib import Path

import click

from .._shared import PATH, json_option
from ._hub import dry_run_option, hub_client, print_spaces, tag_option


@click.command("metrics", short_help="The metrics, for evaluate.load.")
@click.argument("folder", type=PATH, required=False)
@click.option(
    "--repo", required=True, metavar="NAMESPACE", help="The namespace; each metric has its own name in it."
)
@tag_option
@dry_run_option
@json_option
def command(folder: Path | None, repo: str, tag: str | None, dry_run: bool, as_json: bool) -> None:
    """Upload the metrics so that evaluate.load("NAMESPACE/halflife") finds them.

    \b
    convergebench publish metrics --repo NAMESPACE --tag v1.0.0
    """
    from convergebench import metric_modules
    from convergebench.dataset_builder.publishing import spaces

    folder = folder or Path(str(metric_modules.__path__[0]))
    published = spaces.publish_metrics(hub_client(as_json), folder, repo, tag, dry_run)
    print_spaces(published, as_json, what="metrics", repo=repo, tag=tag, dry_run=dry_run)
