import json
from pathlib import Path

import click

from .._shared import PATH, json_option


@click.command("add", short_help="From a folder or a dataset into a suite of your own.")
@click.argument("place")
@click.option("--out", type=PATH, required=True, help="The folder of the suite, which is OUT/NAME.toml.")
@click.option(
    "--limit", type=click.IntRange(1), default=500, show_default=True, help="Most pictures, all kinds alike."
)
@click.option("--column", "columns", multiple=True, metavar="FIELD=COLUMN", help="Of a dataset; repeatable.")
@click.option("--split", help="Of a dataset. Default: train.")
@click.option("--kind", help="Of all: face, object, scene, texture or text.")
@click.option("--origin", help="Of all: real or synthetic.")
@click.option("--licence", help="Of all.")
@click.option("--attribution", help="Who made them all.")
@click.option("--intent", help="What somebody would want to edit in them.")
@json_option
def command(
    place: str,
    out: Path,
    limit: int,
    columns: tuple[str, ...],
    split: str | None,
    as_json: bool,
    **given: str | None,
) -> None:
    """Collect pictures, each with licence, hash and intent, into a suite of your own; again adds to it.

    PLACE is a folder, whose subfolders may be named by kinds, or a dataset of the
    Hub. FIELD is image, kind, origin, licence, attribution, title or intent. Pictures
    that are there already are left out, and no kind gets more than its share.

    \b
    convergebench sources add ORG/edits --column kind=category \\
      --licence CC-BY-4.0 --attribution ORG --out mine
    convergebench plan --suite mine/mine.toml
    """
    from convergebench.generation.sources.collected import collect

    pairs = dict(column.partition("=")[::2] for column in columns)
    counts = collect(place, out, limit, given, pairs, split)
    text = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    click.echo(json.dumps(counts) if as_json else f"{out / out.name}.toml: {counts.total()} pictures ({text})")
