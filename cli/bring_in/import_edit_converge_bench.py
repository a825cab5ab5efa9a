from pathlib import Path
from typing import Any

import click

from .._shared import PATH
from ._import import chain_options, store_findings


@click.command("edit-converge-bench", short_help="A folder of cases, forward and backward.")
@click.argument("path", type=PATH)
@click.option("--editor", required=True, help="The editor's name.")
@click.option("--prompts", type=PATH, help="JSON with the instructions of each case.")
@chain_options
def command(path: Path, editor: str, prompts: Path | None, **options: Any) -> None:
    """Import a folder of cases: I0_source.png, then I1_forward.png and I1_backward.png for each round.

    The files' bytes are kept as they are, and files that cannot be read are
    listed. Exits with status 1 if part of a case could not be imported. Importing
    again with other instructions replaces the chains of the same answers.

    \b
    convergebench import chains/flux --layout edit-converge-bench --editor flux
    """
    from convergebench.dataset_builder.importing import layout_pairs

    store_findings(layout_pairs.find_chains(path, editor, prompts, options["kind"]), editor, **options)
