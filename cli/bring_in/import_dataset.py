from typing import Any

import click

from ._import import chain_options, store_findings


@click.command("dataset", short_help="A dataset with a picture column for each turn.")
@click.argument("path")
@click.option("--editor", required=True, help="The editor's name.")
@click.option("--source-column", default="image", show_default=True, help="The column of the source.")
@click.option(
    "--turn", "turns", multiple=True, required=True, metavar="COLUMN", help="The picture column of each turn."
)
@click.option("--words", multiple=True, metavar="COLUMN", help="The column of each turn's instruction.")
@click.option("--split", help="Which split.")
@click.option("--config", help="Which config.")
@click.option("--revision", help="Which version.")
@click.option(
    "--closes/--open", default=False, show_default=True, help="Whether a finished round should equal the source."
)
@chain_options
def command(
    path: str,
    editor: str,
    source_column: str,
    turns: tuple[str, ...],
    words: tuple[str, ...],
    split: str | None,
    config: str | None,
    revision: str | None,
    closes: bool,
    **options: Any,
) -> None:
    """Import a dataset whose rows hold a source and the picture after each turn.

    Pictures that cannot be read are listed. Exits with status 1 if part of a case could not be imported.

    \b
    convergebench import ORG/edits --layout dataset --editor NAME \\
      --turn turn_1_image --turn turn_2_image --out runs/edits
    """
    from convergebench.dataset_builder.importing import layout_turns

    columns, version = (source_column, turns, words), (split, config, revision)
    findings = layout_turns.find_chains(path, editor, *columns, *version, options["kind"], closes)
    store_findings(findings, editor, **options)
