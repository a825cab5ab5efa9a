from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..._shared import PATH
from ...bring_in._import import chain_options, store_findings

if TYPE_CHECKING:
    from convergebench.dataset_builder.studies.restoration.layout_restored import Inputs


@click.command("restored", short_help="Pictures that a method restored.")
@click.argument("path", type=PATH)
@click.option("--editor", required=True, help="The method's name.")
@click.option("--suite", help="The suite whose degraded pictures were restored; files are named by their ids.")
@click.option("--inputs", type=PATH, help="Folder of the degraded pictures, by name.")
@click.option("--clean", type=PATH, help="Folder of clean pictures: A.png for A~blur.png.")
@click.option("--about", type=PATH, help="A table of name, clean, scene and degradation.")
@chain_options
def command(
    path: Path,
    editor: str,
    suite: str | None,
    inputs: Path | None,
    clean: Path | None,
    about: Path | None,
    **options: Any,
) -> None:
    """Import a folder of restored pictures, named as the degraded ones are.

    Exits with status 1 if part of a case could not be imported.

    \b
    convergebench import restored/hypir --layout restored --editor HYPIR \\
      --suite restoration
    convergebench import restored/hypir --layout restored --editor HYPIR \\
      --inputs degraded --clean clean
    """
    from convergebench.dataset_builder.studies.restoration import layout_restored
    from convergebench.generation.records import UserError

    if suite:
        degraded = _inputs_of_suite(suite)
    elif inputs:
        degraded = layout_restored.find_inputs(inputs, clean, about)
    else:
        raise UserError(
            "no --inputs given; name the folder of the degraded pictures, or their suite with --suite"
        )
    store_findings(layout_restored.find_chains(path, editor, degraded, options["kind"]), editor, **options)


def _inputs_of_suite(name: str) -> "Inputs":
    from convergebench.generation import suites
    from convergebench.generation.records import UserError
    from convergebench.generation.sources import catalogue

    suite = suites.load(name)
    inputs = {}
    for source in map(suite.source, suite.sources):
        if source.reference:
            inputs[source.id] = {
                "picture": suite.read(source.id),
                "reference": catalogue.read_reference(source.id),
                "known_source": source,
                "scene": source.scene,
                "degradation": source.degradation,
                "settings": {"imported": "restored", "short_side": suite.short_side},
            }
    if not inputs:
        raise UserError(f"suite {name!r} has no degraded pictures; `restoration` has")
    return inputs
