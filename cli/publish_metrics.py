"""`convergebench publish metrics`: uploads every metric as a Space of its own."""

import json
from pathlib import Path

import click

from ._hub import dry_run_option, hub_client, print_nothing, print_space, tag_option
from ._shared import json_option


@click.command("metrics", short_help="The metrics, for evaluate.load.")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--repo", required=True, metavar="NAMESPACE", help="The namespace; each metric has its own name in it.")
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
    report = print_nothing if as_json else print_space
    commits = spaces.publish_metrics(hub_client(as_json), folder, repo, tag, report, dry_run)
    if as_json:
        click.echo(json.dumps({"what": "metrics", "repo": repo, "tag": tag, "dry_run": dry_run, "commits": commits}))
