import datetime
import json
from pathlib import Path

import click

from .._shared import PATH, dataset_option, json_option


@click.command("results", short_help="Write results for model pages and Every Eval Ever.")
@click.argument("leaderboard", type=PATH)
@dataset_option
@click.option("--repo", required=True, metavar="NAMESPACE/NAME", help="Where the dataset is on the Hub.")
@click.option("--revision", help="The published version that was measured, such as v1.0.0.")
@click.option("--organization", help="Who measured; also writes records for Every Eval Ever.")
@click.option(
    "--relationship",
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    default="third_party",
    show_default=True,
    help="Of whoever measured to the model's maker.",
)
@json_option
def command(
    leaderboard: Path,
    dataset: Path,
    repo: str,
    revision: str | None,
    organization: str | None,
    relationship: str,
    as_json: bool,
) -> None:
    """Write eval_results/MODEL/.eval_results for each editor whose settings name a model on the Hub.

    With --organization also write every_eval_ever/, with
    one file for each editor of report/leaderboard.json.

    \b
    convergebench publish results report/leaderboard.json \\
      --repo NAMESPACE/convergebench --organization "My laboratory"
    """
    from convergebench.dataset_builder.publishing import results

    rows, editors = results.read_leaderboard(leaderboard), results.chains_by_editor(dataset)
    now = datetime.datetime.now(datetime.UTC)
    address, date = f"https://huggingface.co/datasets/{repo}", now.date().isoformat()
    source = {"dataset_id": repo, "dataset_revision": revision, "date": date, "source_url": address}
    written = results.write_results(editors, rows, Path("eval_results"), source)
    outcome = {"results": {model: str(path) for model, path in written.items()}}
    if organization:
        origin = {"source_organization_name": organization, "evaluator_relationship": relationship}
        records = results.write_records(
            editors, rows, Path("every_eval_ever"), origin, repo, int(now.timestamp())
        )
        outcome["records"] = {editor: str(path) for editor, path in records.items()}
    if as_json:
        click.echo(json.dumps(outcome))
        return
    for name, path in ((name, path) for paths in outcome.values() for name, path in paths.items()):
        click.echo(f"{name}: {path}")
    if not any(outcome.values()):
        click.echo("no editor of the leaderboard is in the dataset")
