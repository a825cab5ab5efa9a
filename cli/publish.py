"""`convergebench publish`: uploads a version of the dataset, the metrics or the Space to the Hub."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._shared import json_option

if TYPE_CHECKING:
    from convergebench.dataset_builder.publishing.publish import Plan


@click.command("publish")
@click.argument("what", type=click.Choice(["dataset", "metrics", "space"]))
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--repo", required=True, metavar="NAMESPACE/NAME", help="Where to. For metrics: the namespace alone.")
@click.option(
    "--tag", metavar="vX.Y.Z", help="The version. A change of the suite is major, added chains minor, a new card patch."
)
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    metavar="LEADERBOARD.JSON",
    help="dataset: also write .eval_results files to propose to the editors' model repositories.",
)
@click.option("--propose", is_flag=True, help="With --results: open a pull request in each of those repositories.")
@click.option(
    "--dataset",
    metavar="NAMESPACE/NAME[@TAG]",
    help="space: the dataset on the Hub that it shows. Default: convergebench in its namespace, at the newest tag.",
)
@click.option("--dry-run", is_flag=True, help="Check and compare, upload nothing.")
@json_option
def publish(
    what: str,
    path: Path | None,
    repo: str,
    tag: str | None,
    results: Path | None,
    propose: bool,
    dataset: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Check a dataset, the metrics or the Space, show what changes, upload it in one commit, and tag it.

    \b
    convergebench publish dataset convergebench --repo NAMESPACE/convergebench --tag v1.0.0 --dry-run
    convergebench publish metrics --repo NAMESPACE --tag v1.0.0
    convergebench publish space --repo NAMESPACE/convergebench --tag v1.0.0
    """
    from huggingface_hub import HfApi
    from huggingface_hub.utils import disable_progress_bars

    if as_json or not sys.stderr.isatty():
        disable_progress_bars()
    api = HfApi(library_name="convergebench")
    if propose and not results:
        raise click.UsageError("--propose opens pull requests with results; give them by --results LEADERBOARD.JSON")
    if what == "dataset":
        folder = path or Path("convergebench")
        outcome = publish_dataset(api, folder, repo, tag, dry_run, quiet=as_json)
        if results and (outcome["commit"] or dry_run):
            written = write_results(folder, results, repo, outcome["commit"], quiet=as_json)
            outcome["results"] = {model: str(file) for model, file in written.items()}
            if propose:
                outcome["proposed"] = propose_results(api, written, repo, dry_run, quiet=as_json)
    elif what == "metrics":
        from convergebench import metric_modules
        from convergebench.dataset_builder.publishing import spaces

        report = (lambda *about: None) if as_json else print_space
        metrics = path or Path(str(metric_modules.__path__[0]))
        outcome = {"commits": spaces.publish_metrics(api, metrics, repo, tag, report, dry_run)}
    else:
        import tempfile

        from convergebench.dataset_builder.publishing import spaces
        from convergebench.generation.records import UserError
        from convergebench.spaces_app.space.publish_folder import copy_space_to

        report = (lambda *about: None) if as_json else print_space
        if path and (path / "data").is_dir():
            raise UserError(
                f"{path} is a dataset, and what is published here is a Space; leave the path out, "
                "and name the dataset on the Hub that the Space shows by --dataset"
            )
        with tempfile.TemporaryDirectory() as temporary:
            if path is None:
                shown, revision = spaces.shown_dataset(api, repo, dataset)
                path = copy_space_to(Path(temporary), repo, shown, revision)
                if not as_json:
                    click.echo(f"{repo} shows {shown} at {revision or 'its newest commit'}")
            files = spaces.space_files(path)
            outcome = {"commits": {repo: spaces.publish_files(api, files, repo, tag, report, dry_run)}}
    if as_json:
        click.echo(json.dumps({"what": what, "repo": repo, "tag": tag, "dry_run": dry_run} | outcome))


def publish_dataset(api: Any, folder: Path, repo: str, tag: str | None, dry_run: bool, quiet: bool) -> dict[str, Any]:
    """Publish the dataset with a bar over the checks, which read every picture once."""
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.dataset_builder.publishing import publish as publishing
    from convergebench.generation.progress import progress_bar

    plans: list[Plan] = []

    def report(plan: "Plan") -> None:
        plans.append(plan)
        if not quiet:
            print_plan(plan)

    reader = Reader(folder)
    with progress_bar("check", sum(len(reader.files(name)) for name in reader.configs()), "files", quiet) as advance:
        commit = publishing.publish(api, folder, repo, tag, lambda file: advance(1, ""), report, dry_run)
    change = plans[0].change
    if not quiet:
        click.echo("nothing was changed (--dry-run)" if dry_run else f"{repo} {tag or ''} is at {commit}")
    return {
        "commit": commit,
        "last": plans[0].last,
        "level": change.level,
        "changes": change.words,
        "added": change.added,
        "removed": change.removed,
        "bytes": change.bytes,
        "rows": plans[0].rows,
        "foreign": plans[0].foreign,
    }


def write_results(folder: Path, leaderboard: Path, repo: str, commit: str | None, quiet: bool) -> dict[str, Path]:
    """Write a results file for each model repository; it says the commit where there is one."""
    import datetime

    from convergebench.dataset_builder.publishing import eval_results

    values = eval_results.leaderboard_values(leaderboard)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    written = eval_results.write_results(folder, Path("eval_results"), values, repo, commit, today)
    if not quiet:
        for model, path in written.items():
            click.echo(f"{path}: to propose to {model}")
        if not written:
            click.echo("no editor of the leaderboard names a model repository in its settings")
    return written


def propose_results(api: Any, written: dict[str, Path], repo: str, dry_run: bool, quiet: bool) -> dict[str, str]:
    """Open the pull requests, or say which would be opened; by model, their addresses."""
    from convergebench.dataset_builder.publishing import eval_results

    opened = {} if dry_run else eval_results.propose(api, written, repo)
    if not quiet:
        for model in written:
            click.echo(f"{model}: a pull request {'would be opened' if dry_run else f'is open at {opened[model]}'}")
    return opened


def print_plan(plan: "Plan") -> None:
    from convergebench.dataset_builder.building.card_tables import count_text, size_text

    since = f"after {plan.last} (a {plan.change.level} change)" if plan.last else "(the first version)"
    click.echo(f"{plan.repo}: {plan.tag or 'no tag'} {since}")
    for word in plan.change.words:
        click.echo(f"  {word}")
    for name, (before, after) in plan.rows.items():
        click.echo(f"  {name}: {before:,} -> {after:,} rows")
    kept = count_text(plan.change.unchanged, "file")
    sizes = f"{count_text(len(plan.change.added), 'data file')} to upload ({size_text(plan.change.bytes)})"
    sizes += "" if plan.commit else " with the card and the manifest"
    click.echo(f"  {sizes}, {count_text(len(plan.change.removed), 'file')} to delete, {kept} unchanged")
    for file in plan.foreign:
        click.echo(f"  left alone: {file} is not a file of this dataset")
    if plan.commit:
        click.echo(f"  {plan.tag} holds exactly this folder: nothing is left to do")


def print_space(repo: str, files: int, changed: int) -> None:
    click.echo(f"{repo}: {files} files, {changed} changed")
