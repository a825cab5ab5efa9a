import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._shared import PATH, json_option
from ._hub import dry_run_option, hub_client, tag_option

if TYPE_CHECKING:
    from convergebench.dataset_builder.publishing.publish import Plan


@click.command("dataset", short_help="A dataset, as one tagged commit.")
@click.argument("folder", type=PATH, default="convergebench")
@click.option("--repo", required=True, metavar="NAMESPACE/NAME", help="The repository to upload to.")
@tag_option
@click.option("--add", is_flag=True, help="Publish the newest version again with this folder's editors added.")
@click.option("--pull-request", is_flag=True, help="With --add: open a pull request even if you may write.")
@dry_run_option
@json_option
def command(
    folder: Path, repo: str, tag: str | None, add: bool, pull_request: bool, dry_run: bool, as_json: bool
) -> None:
    """Check a dataset, show what changes, upload it in one commit, and tag it.

    \b
    convergebench publish dataset convergebench --repo \\
      NAMESPACE/convergebench --tag v1.0.0 --dry-run
    convergebench publish dataset mine --repo NAMESPACE/convergebench --add
    """
    if add and (tag or dry_run):
        raise click.UsageError("--add chooses the version and has no dry run; leave out --tag and --dry-run")
    if add:
        _add(folder, repo, pull_request, as_json)
        return
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.dataset_builder.publishing.publish import publish
    from convergebench.generation.progress import progress_bar
    from convergebench.spaces_app.reporting.write import headline_with_picture

    with progress_bar("check", len(Reader(folder).data_files()), "files", as_json) as advance:
        plan = publish(
            hub_client(as_json),
            folder,
            repo,
            tag,
            lambda file: advance(1, ""),
            lambda plan: None if as_json else _print_plan(f"{repo}: {tag or 'no tag'}", plan),
            dry_run,
            headline_with_picture,
        )
    if as_json:
        click.echo(json.dumps({"what": "dataset", "repo": repo, "tag": tag, "dry_run": dry_run} | plan))
    else:
        click.echo("nothing was changed (--dry-run)" if dry_run else f"{repo} {tag or ''} is at {plan['commit']}")


def _add(folder: Path, repo: str, pull_request: bool, as_json: bool) -> None:
    from convergebench.dataset_builder.publishing.add import add

    outcome = add(hub_client(as_json), folder, repo, pull_request)
    request = outcome["pull_request"]
    result = f"proposed at {request}" if request else f"published as {outcome['tag']}"
    click.echo(json.dumps(outcome) if as_json else f"{repo}: {len(outcome['added'])} files {result}")


def _print_plan(version: str, plan: "Plan") -> None:
    from convergebench.dataset_builder.building.card import count_text, size_text

    since = f"after {plan['last']} (a {plan['level']} change)" if plan["last"] else "(the first version)"
    lines = [f"{version} {since}", *plan["changes"]]
    lines += [f"{name}: {before:,} -> {after:,} rows" for name, (before, after) in plan["rows"].items()]
    uploads = f"{count_text(len(plan['added']), 'data file')} to upload ({size_text(plan['bytes'])})"
    removed = count_text(len(plan["removed"]), "file")
    lines.append(f"{uploads}, {removed} to delete, {count_text(plan['unchanged'], 'file')} unchanged")
    lines += [f"not changed: {file}, which is not a file of this dataset" for file in plan["foreign"]]
    if plan["commit"]:
        lines.append("the tag has exactly these files already: there is nothing to do")
    click.echo("\n  ".join(lines))
