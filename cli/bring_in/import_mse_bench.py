from typing import Any

import click

from ._import import chain_options, store_findings


@click.command("mse-bench", short_help="A model's answers to MSE-Bench.")
@click.argument("path")
@click.option("--editor", required=True, help="The editor's name.")
@click.option("--split", help="The model's split. Default: the editor's name.")
@click.option("--questions", default="leigangqu/MSE-Bench", show_default=True, help="Pictures and instructions.")
@chain_options
def command(path: str, editor: str, split: str | None, questions: str, **options: Any) -> None:
    """Import a model's five turns on each picture, from the published results or a copy of them.

    The turns are edits on top of each other that are never undone, so they have curves but no half-life.

    \b
    convergebench import leigangqu/MSE-Bench-results --layout mse-bench \\
      --editor vincie_7b --kind object
    """
    from convergebench.dataset_builder.importing import layout_mse_bench

    findings = layout_mse_bench.find_chains(path, editor, split, questions, options["kind"])
    store_findings(findings, editor, **options)
