import json
from pathlib import Path
from typing import Any

import click

from ..._shared import PATH, column_option, dataset_option, json_option


@click.command("scores", short_help="Scores that others published.")
@click.argument("table", type=PATH)
@dataset_option
@click.option("--editor", help="Whose scores these are, if the table does not say.")
@column_option
@click.option(
    "--zero-is-missing", "zeros", multiple=True, metavar="METRIC", help="Its zeros mean 'not computed'."
)
@click.option(
    "--zero-is-real", "real_zeros", multiple=True, metavar="METRIC", help="Its zeros are measured values."
)
@click.option("--restoration", is_flag=True, help="Rows are restored pictures, or means over them.")
@click.option("--signature", default="unknown", help="How the numbers were computed, if known.")
@json_option
def command(table: Path, dataset: Path, columns: dict[str, str], as_json: bool, **options: Any) -> None:
    """Add a CSV, JSON or JSONL of published scores to the dataset's config `published`.

    \b
    convergebench import scores.csv --layout scores --column case=edit \\
      --column image=image --zero-is-missing lpips
    convergebench import prompts.csv --layout scores --restoration --editor NAME \\
      --column program=Prompt --column psnr=PSNR

    Without `image`, the picture that a case starts from, there are no intervals and no verdicts.
    """
    from convergebench.dataset_builder.studies.published.published_scores import import_scores

    counts = import_scores(table, dataset, columns, **options)
    if as_json:
        click.echo(json.dumps(counts))
        return
    rows = f"{counts['rows']} rows of {counts['pictures']} pictures"
    rows += f", {counts['matched']} for answers in the dataset"
    left_out = f"{counts['repeated']} repeated; {counts['zeros']} zeros read as not computed"
    click.echo(f"{counts['file']}: {rows}; {left_out}")
