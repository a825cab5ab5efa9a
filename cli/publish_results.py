"""`convergebench publish results`: writes a report's results in the schema of Every Eval Ever."""

import json
import time
from pathlib import Path

import click

from ._shared import dataset_option, json_option


@click.command("results", short_help="Write results for Every Eval Ever.")
@click.argument("leaderboard", type=click.Path(path_type=Path))
@dataset_option
@click.option("--organization", required=True, help="Who measured.")
@click.option(
    "--relationship",
    default="third_party",
    show_default=True,
    help="Of whoever measured to the model's maker: first_party, third_party, collaborative or other.",
)
@click.option("--repo", metavar="NAMESPACE/NAME", help="Where the dataset is on the Hub.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("every_eval_ever"), show_default=True, help="The folder."
)
@json_option
def command(
    leaderboard: Path, dataset: Path, organization: str, relationship: str, repo: str | None, out: Path, as_json: bool
) -> None:
    """Write one file for each editor with what report/leaderboard.json says of it, for Every Eval Ever.

    \b
    convergebench publish results report/leaderboard.json \\
      --organization "My laboratory" --repo NAMESPACE/convergebench
    """
    from convergebench.dataset_builder.publishing import results

    publisher = results.Publisher(organization, relationship, repo)
    written = results.write_records(dataset, leaderboard, out, publisher, int(time.time()))
    if as_json:
        click.echo(json.dumps({editor: str(path) for editor, path in written.items()}))
        return
    for editor, path in written.items():
        click.echo(f"{editor}: {path}")
    if not written:
        click.echo("no editor of the leaderboard is in the dataset")
