import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ._shared import PATH, json_option

if TYPE_CHECKING:
    from convergebench.dataset_builder.building.build import Built


@click.command("build", short_help="Turn finished chains into a dataset.")
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option("--out", type=PATH, default="convergebench", show_default=True, help="The dataset's folder.")
@click.option("--licence", help="Licence of your own pictures; `publish` needs one.")
@click.option("--attribution", help="Who made them.")
@json_option
def command(
    runs: tuple[Path, ...], out: Path, licence: str | None, attribution: str | None, as_json: bool
) -> None:
    """Turn the finished chains of one or more runs into a dataset that load_dataset reads.

    \b
    convergebench build runs/demo --out convergebench
    convergebench build runs/demo runs/other --out convergebench --json
    """
    import convergebench as cb

    _print_built(cb.build(runs, out, licence=licence, attribution=attribution, quiet=as_json), as_json)


def _print_built(built: "Built", as_json: bool = False) -> None:
    from convergebench.dataset_builder.building.card import count_text, size_text

    if as_json:
        click.echo(json.dumps(vars(built) | {"unfinished": len(built.unfinished)}, default=str))
    else:
        nouns = {"chain": built.chains, "step": built.steps, "source": built.sources}
        words = ", ".join(count_text(count, noun) for noun, count in nouns.items())
        click.echo(f"{built.folder}: {words} in {count_text(built.files, 'file')}, {size_text(built.bytes)}")
    if built.unfinished:
        chains = count_text(len(built.unfinished), "unfinished chain")
        click.echo(f"left out: {chains}, such as {built.unfinished[0]}", err=True)
    for path in built.foreign:
        click.echo(f"left out: {path} does not belong to a chain", err=True)
    if built.stale:
        rows = count_text(built.stale, "score row")
        click.echo(f"removed: {rows} of pictures that are no longer in the dataset", err=True)
