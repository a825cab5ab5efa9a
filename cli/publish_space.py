"""`convergebench publish space`: uploads the Space that shows a dataset of the Hub."""

import tempfile
from pathlib import Path

import click

from ._hub import dry_run_option, hub_client, print_spaces, tag_option
from ._shared import json_option


@click.command("space", short_help="The Space that shows a dataset.")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--repo", required=True, metavar="NAMESPACE/NAME", help="Where to.")
@tag_option
@click.option(
    "--dataset",
    metavar="NAMESPACE/NAME[@TAG]",
    help="The dataset on the Hub that it shows. Default: convergebench in its namespace, at the newest tag.",
)
@dry_run_option
@json_option
def command(folder: Path | None, repo: str, tag: str | None, dataset: str | None, dry_run: bool, as_json: bool) -> None:
    """Upload the Space in one commit, and tag it.

    \b
    convergebench publish space --repo NAMESPACE/convergebench --tag v1.0.0
    """
    from convergebench.dataset_builder.publishing import spaces
    from convergebench.generation.records import UserError
    from convergebench.spaces_app.space.publish_folder import copy_space_to

    if folder and (folder / "data").is_dir():
        raise UserError(
            f"{folder} is a dataset, not a Space; leave the path out, and name the dataset on the Hub with --dataset"
        )
    api = hub_client(as_json)
    with tempfile.TemporaryDirectory() as temporary:
        if folder is None:
            shown, revision = spaces.shown_dataset(api, repo, dataset)
            folder = copy_space_to(Path(temporary), repo, shown, revision)
            if not as_json:
                click.echo(f"{repo} shows {shown} at {revision or 'its newest commit'}")
        published = spaces.publish_files(api, spaces.space_files(folder), repo, tag, dry_run)
    print_spaces({repo: published}, as_json, what="space", repo=repo, tag=tag, dry_run=dry_run)
