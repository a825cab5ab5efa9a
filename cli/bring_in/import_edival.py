from pathlib import Path
from typing import Any

import click

from .._shared import PATH
from ._import import chain_options, store_findings


@click.command("edival", short_help="A model's answers to EdiVal-Bench.")
@click.argument("path", type=PATH)
@click.option("--editor", required=True, help="The editor's name.")
@click.option("--words", type=PATH, help="The benchmark's CSV with the instructions.")
@chain_options
def command(path: Path, editor: str, words: Path | None, **options: Any) -> None:
    """Import the multipass answers of a model: INDEX_input_raw_turn_1.png and so on.

    `--originals` is the folder of INDEX_input_raw.jpg, if models were given different encodings. The
    turns are edits on top of each other that are never undone, so they have curves but no half-life.

    \b
    convergebench import answers/MODEL --layout edival --editor MODEL \\
      --words oai_instruction_generation_output.csv
    """
    from convergebench.dataset_builder.importing import layout_edival

    findings = layout_edival.find_chains(path, editor, words, options["originals"], options["kind"])
    store_findings(findings, editor, **options | {"originals": None})
