"""What the verbs that talk to the Hub share."""

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from convergebench.dataset_builder.publishing.spaces import Published
    from huggingface_hub import HfApi

tag_option = click.option(
    "--tag",
    metavar="vX.Y.Z",
    help="The version: major if the suite changed, minor if chains were added, patch for the card.",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Check and compare; upload nothing.")


def hub_client(quiet: bool) -> "HfApi":
    """A client of the Hub, without progress bars if the output is not a terminal."""
    from huggingface_hub import HfApi
    from huggingface_hub.utils import disable_progress_bars

    if quiet or not sys.stderr.isatty():
        disable_progress_bars()
    return HfApi(library_name="convergebench")


def print_spaces(published: "Mapping[str, Published]", as_json: bool, **words: object) -> None:
    """Print how many files of each Space changed, or its commit as JSON after `words`."""
    if as_json:
        click.echo(json.dumps(words | {"commits": {repo: commit for repo, (commit, *_) in published.items()}}))
        return
    for repo, (_, files, changed) in published.items():
        click.echo(f"{repo}: {files} files, {changed} changed")
