from pathlib import Path
from typing import Any

import click

from .._shared import PATH, column_option
from ._import import chain_options, store_findings


@click.command("table", short_help="A CSV or JSONL of picture paths.")
@click.argument("path", type=PATH)
@click.option("--editor", help="The editor's name, if the table has no column for it.")
@column_option
@click.option(
    "--closes/--open",
    default=None,
    help="Whether a finished round should equal the source. Default: unless each round asks for something else.",
)
@chain_options
def command(path: Path, editor: str | None, columns: dict[str, str], closes: bool | None, **options: Any) -> None:
    """Import a CSV or JSONL that has one row for each picture, with its path; docs/import.md has the columns.

    The files' bytes are kept as they are, and files that cannot be read are
    listed. Exits with status 1 if part of a case could not be imported. Importing
    again with other instructions replaces the chains of the same answers.

    \b
    convergebench import answers.csv --layout table --column chain=case \\
      --column path=file --out runs/elsewhere
    """
    from convergebench.dataset_builder.importing import layout_table

    findings = layout_table.find_chains(path, editor, columns, options["kind"], closes)
    store_findings(findings, editor or path.stem, **options)
