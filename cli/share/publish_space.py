import tempfile
from pathlib import Path

import click

from .._shared import json_option
from ._hub import dry_run_option, hub_client, print_spaces, tag_option


@click.command("space", short_help="The Space that shows a dataset.")
@click.option("--repo", required=True, metavar="NAMESPACE/NAME", help="The repository to upload to.")
@tag_option
@click.option(
    "--dataset",
    metavar="NAMESPACE/NAME[@TAG]",
    help="The dataset on the Hub that it shows, at its newest tag. Default: NAMESPACE/convergebench.",
)
@dry_run_option
@json_option
def command(repo: str, tag: str | None, dataset: str | None, dry_run: bool, as_json: bool) -> None:
    """Upload the Space in one commit, and tag it.

    \b
    convergebench publish space --repo NAMESPACE/convergebench --tag v1.0.0
    """
    from convergebench.dataset_builder.publishing import spaces
    from convergebench.spaces_app.publishing.space_folder import copy_space_to

    api = hub_client(as_json)
    shown, revision = spaces.shown_dataset(api, repo, dataset)
    if not as_json:
        click.echo(f"{repo} shows {shown} at {revision or 'its newest commit'}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = copy_space_to(Path(temporary), repo, shown, revision)
        published = spaces.publish_files(api, spaces.space_files(folder), repo, tag, dry_run)
    print_spaces({repo: published}, as_json, what="space", repo=repo, tag=tag, dry_run=dry_run)
