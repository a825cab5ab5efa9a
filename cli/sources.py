"""`convergebench sources SUITE`: downloads the pictures of a suite."""

import json
import sys
from pathlib import Path

import click

from ._shared import json_option


@click.command("sources")
@click.argument("suite")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="The folder. Default: the cache.")
@click.option("--inputs", type=click.Path(path_type=Path, file_okay=False), help="Write what editors are given here.")
@json_option
def sources(suite: str, out: Path | None, inputs: Path | None, as_json: bool) -> None:
    """Download the pictures of a suite, check every hash, and keep them for runs without network.

    With --inputs, the degraded pictures of a suite such as restoration are written too, for methods that run elsewhere:
    what they restored comes back with `convergebench import --layout restored`.

    \b
    convergebench sources v1
    convergebench sources restoration --inputs degraded
    convergebench sources v1-mini --out pictures
    """
    from convergebench.generation import suites
    from convergebench.generation.files import refuse_strangers_file, write_whole
    from convergebench.generation.pictures import decode, encode_png
    from convergebench.generation.progress import progress_bar
    from convergebench.generation.sources.catalogue import cache_folder, gather

    loaded = suites.load(suite)
    wanted = dict.fromkeys(id.partition("~")[0] for id in loaded.sources if id not in loaded.own_pictures)
    folder = out or cache_folder()
    with progress_bar("pictures", len(wanted), "pictures", as_json) as advance:
        problems = gather(wanted, folder, lambda id: advance(1, id))
    if inputs and not problems:
        inputs.mkdir(parents=True, exist_ok=True)
        given = {inputs / f"{id}.png": encode_png(decode(loaded.read(id))) for id in loaded.sources}
        for path, data in given.items():
            refuse_strangers_file(path, lambda before, data=data: before == data)  # type: ignore[misc]
        for path, data in given.items():
            write_whole(path, data)
    if as_json:
        arrived = [id for id in wanted if id not in problems]
        click.echo(json.dumps({"folder": str(folder), "arrived": arrived, "problems": problems}))
    else:
        for sentence in problems.values():
            click.echo(sentence, err=True)
        click.echo(f"{len(wanted) - len(problems)} of {len(wanted)} pictures of {suite} are in {folder}.")
    if problems:
        sys.exit(1)
