"""`convergebench publish dataset`: uploads a dataset in one commit and tags it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._hub import dry_run_option, hub_client, tag_option
from ._shared import json_option

if TYPE_CHECKING:
    from convergebench.dataset_builder.publishing.publish import Plan
    from huggingface_hub import HfApi


@click.command("dataset", short_help="A dataset, in one commit, tagged.")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("convergebench"))
@click.option("--repo", required=True, metavar="NAMESPACE/NAME", help="Where to.")
@tag_option
@dry_run_option
@json_option
def command(folder: Path, repo: str, tag: str | None, dry_run: bool, as_json: bool) -> None:
    """Check a dataset, show what changes, upload it in one commit, and tag it.

    \b
    convergebench publish dataset convergebench --repo \\
      NAMESPACE/convergebench --tag v1.0.0 --dry-run
    """
    outcome = _publish(hub_client(as_json), folder, repo, tag, dry_run, as_json)
    if as_json:
        click.echo(json.dumps({"what": "dataset", "repo": repo, "tag": tag, "dry_run": dry_run} | outcome))


def _publish(api: "HfApi", folder: Path, repo: str, tag: str | None, dry_run: bool, quiet: bool) -> dict[str, Any]:
    """Publish with a progress bar over the checks, which read every picture once."""
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.dataset_builder.publishing import publish as publishing
    from convergebench.generation.progress import progress_bar

    plans: list[Plan] = []

    def report(plan: "Plan") -> None:
        plans.append(plan)
        if not quiet:
            _print_plan(plan)

    reader = Reader(folder)
    with progress_bar("check", sum(len(reader.files(name)) for name in reader.configs()), "files", quiet) as advance:
        commit = publishing.publish(api, folder, repo, tag, lambda file: advance(1, ""), report, dry_run)
    if not quiet:
        click.echo("nothing was changed (--dry-run)" if dry_run else f"{repo} {tag or ''} is at {commit}")
    plan, change = plans[0], plans[0].change
    return {
        "commit": commit,
        "last": plan.last,
        "level": change.level,
        "changes": change.words,
        "added": plan.added,
        "removed": plan.removed,
        "bytes": plan.bytes,
        "rows": plan.rows,
        "foreign": plan.foreign,
    }


def _print_plan(plan: "Plan") -> None:
    from convergebench.dataset_builder.building.card_tables import count_text, size_text

    since = f"after {plan.last} (a {plan.change.level} change)" if plan.last else "(the first version)"
    click.echo(f"{plan.repo}: {plan.tag or 'no tag'} {since}")
    for word in plan.change.words:
        click.echo(f"  {word}")
    for name, (before, after) in plan.rows.items():
        click.echo(f"  {name}: {before:,} -> {after:,} rows")
    uploads = f"{count_text(len(plan.added), 'data file')} to upload ({size_text(plan.bytes)})"
    if not plan.commit:
        uploads += " with the card and the manifest"
    removed = count_text(len(plan.removed), "file")
    unchanged = count_text(plan.unchanged, "file")
    click.echo(f"  {uploads}, {removed} to delete, {unchanged} unchanged")
    for file in plan.foreign:
        click.echo(f"  left alone: {file} is not a file of this dataset")
    if plan.commit:
        click.echo(f"  {plan.tag} holds exactly this folder: there is nothing to do")
