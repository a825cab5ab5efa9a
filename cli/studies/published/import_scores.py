"""`convergebench import TABLE --layout scores`: adds scores that others published to a dataset."""

import json
from pathlib import Path

import click

from ..._shared import column_option, dataset_option, json_option, parse_columns


@click.command("scores", short_help="Scores that others published.")
@click.argument("table", type=click.Path(path_type=Path))
@dataset_option
@click.option("--editor", help="Whose scores these are, if the table does not say.")
@column_option
@click.option(
    "--zero-is-missing", "zeros", multiple=True, metavar="METRIC", help="A 0 of this metric means: not computed."
)
@click.option(
    "--zero-is-real", "real_zeros", multiple=True, metavar="METRIC", help="A 0 of this metric is a measured value."
)
@click.option(
    "--duplicates",
    type=click.Choice(["refuse", "first", "last", "mean"]),
    default="refuse",
    show_default=True,
    help="Which row counts if several describe one step and differ.",
)
@click.option(
    "--restoration",
    is_flag=True,
    help="Rows are restored pictures, or means over them; program, clean, scene and degradation may be named.",
)
@click.option("--signature", default="unknown", help="What is known of how the numbers were made.")
@json_option
def command(
    table: Path,
    dataset: Path,
    editor: str | None,
    columns: tuple[str, ...],
    zeros: tuple[str, ...],
    real_zeros: tuple[str, ...],
    duplicates: str,
    restoration: bool,
    signature: str,
    as_json: bool,
) -> None:
    """Add a CSV, JSON or JSONL of published scores to the dataset's config `published`.

    \b
    convergebench import scores.csv --layout scores --column case=image+edit \\
      --column image=image --zero-is-missing lpips
    convergebench import prompts.csv --layout scores --restoration --editor NAME \\
      --column program=Prompt --column psnr=PSNR

    `image` is the picture that a case starts from: without it there are no intervals and no verdicts, because cases of
    one picture are not independent. A+B joins two columns.
    """
    from convergebench.dataset_builder.studies.published import published_scores

    outcome = published_scores.import_scores(
        table, dataset, parse_columns(columns), editor, zeros, duplicates, signature, real_zeros, restoration
    )
    counts = {"rows": outcome.rows, "matched": outcome.matched, "pictures": outcome.pictures}
    counts |= {"settled": outcome.settled, "zeros": outcome.zeros}
    if as_json:
        click.echo(json.dumps({"file": str(outcome.file), **counts}))
        return
    pictures = outcome.pictures or "no"
    click.echo(
        f"{outcome.file}: {outcome.rows} rows of {pictures} pictures, {outcome.matched} of them for answers in "
        "the dataset; "
        f"{outcome.settled} duplicates ({duplicates}); {outcome.zeros} zeros read as not computed"
    )
