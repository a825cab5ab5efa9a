"""`convergebench import-scores`: adds a published table of scores to a dataset."""

import json
from pathlib import Path

import click

from ._shared import json_option, parse_columns


@click.command("import-scores")
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--dataset",
    type=click.Path(path_type=Path),
    default=Path("convergebench"),
    show_default=True,
    help="The dataset's folder.",
)
@click.option("--editor", help="Whose scores these are, where the table does not say.")
@click.option(
    "--column", "columns", multiple=True, metavar="OURS=THEIRS", help="The name of one of our columns in the table."
)
@click.option(
    "--zero-is-missing", "zeros", multiple=True, metavar="METRIC", help="A 0 of this metric means: not computed."
)
@click.option(
    "--zero-is-real", "real_zeros", multiple=True, metavar="METRIC", help="A 0 of this metric is a number like others."
)
@click.option(
    "--duplicates",
    type=click.Choice(["refuse", "first", "last", "mean"]),
    default="refuse",
    show_default=True,
    help="Which row counts where several describe one step and differ.",
)
@click.option(
    "--restoration",
    is_flag=True,
    help="Rows are restored pictures, or means over them: program (the prompt), clean, scene and degradation may be "
    "named, case and round need not.",
)
@click.option("--signature", default="unknown", help="What is known of how the numbers were made.")
@json_option
def import_scores(
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
    convergebench import-scores scores.csv --column case=image+edit --column image=image --zero-is-missing lpips
    convergebench import-scores prompts.csv --restoration --column program=Prompt --column psnr=PSNR --editor NAME

    `image` is the picture that a case starts from: without it neither limits nor verdicts are given, because cases of
    one picture are not independent. A+B joins two columns.
    """
    from convergebench.dataset_builder.studies.published import published_scores

    outcome = published_scores.import_scores(
        table, dataset, parse_columns(columns), editor, zeros, duplicates, signature, real_zeros, restoration
    )
    about = {"rows": outcome.rows, "matched": outcome.matched, "pictures": outcome.pictures}
    about |= {"settled": outcome.settled, "zeros": outcome.zeros}
    if as_json:
        click.echo(json.dumps({"file": str(outcome.file), **about}))
        return
    pictures = outcome.pictures or "no"
    click.echo(
        f"{outcome.file}: {outcome.rows} rows of {pictures} pictures, {outcome.matched} of them of answers that are in "
        "the dataset; "
        f"{outcome.settled} duplicates ({duplicates}); {outcome.zeros} zeros taken as not computed"
    )
