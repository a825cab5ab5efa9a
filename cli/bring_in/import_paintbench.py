from pathlib import Path
from typing import Any

import click

from ._import import chain_options, store_findings


@click.command("paintbench", short_help="A model's answers to PaintBench.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--editor", required=True, help="The editor's name.")
@click.option(
    "--benchmark",
    type=click.Path(path_type=Path),
    required=True,
    help="Its folder of problems, with the answers.",
)
@chain_options
def command(path: Path, editor: str, benchmark: Path, **options: Any) -> None:
    """Import a model's outputs, TASK/0001_output.png, beside the problems they answer.

    Each is a chain of one call, compared with the one right answer.

    \b
    convergebench import model_outputs/MODEL/PaintBench --layout paintbench \\
      --editor MODEL --benchmark benchmarks/PaintBench
    """
    from convergebench.dataset_builder.importing import layout_paintbench

    store_findings(layout_paintbench.find_chains(path, editor, benchmark, options["kind"]), editor, **options)
