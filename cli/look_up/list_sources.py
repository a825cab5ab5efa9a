import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._shared import json_option

if TYPE_CHECKING:
    from convergebench.generation.suites import Suite


@click.command("sources", short_help="Download and check a suite's pictures.")
@click.argument("suite")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="The folder. Default: the cache.")
@click.option(
    "--inputs",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder into which to write the degraded pictures of the suite.",
)
@json_option
def command(suite: str, out: Path | None, inputs: Path | None, as_json: bool) -> None:
    """Download the pictures of a suite and check every hash, for runs without a network.

    --inputs also writes the degraded pictures of a suite such as restoration, for methods that run elsewhere; their
    results come back with `convergebench import --layout restored`.

    \b
    convergebench list sources v1
    convergebench list sources restoration --inputs degraded
    """
    from convergebench.generation import suites
    from convergebench.generation.packages import cache_folder
    from convergebench.generation.progress import progress_bar
    from convergebench.generation.sources.catalogue import gather

    loaded = suites.load(suite)
    wanted = dict.fromkeys(id.partition("~")[0] for id in loaded.sources if id not in loaded.own_pictures)
    folder = out or cache_folder() / "sources"
    with progress_bar("pictures", len(wanted), "pictures", as_json) as advance:
        problems = gather(wanted, folder, lambda id: advance(1, id))
    if inputs and not problems:
        _write_inputs(loaded, inputs)
    if as_json:
        arrived = [id for id in wanted if id not in problems]
        click.echo(json.dumps({"folder": str(folder), "arrived": arrived, "problems": problems}))
    else:
        for sentence in problems.values():
            click.echo(sentence, err=True)
        click.echo(f"{len(wanted) - len(problems)} of {len(wanted)} pictures of {suite} are in {folder}")
    if problems:
        sys.exit(1)


def _write_inputs(suite: "Suite", folder: Path) -> None:
    from convergebench.generation.files import refuse_strangers_file, write_whole
    from convergebench.generation.pictures import decode, encode_png

    folder.mkdir(parents=True, exist_ok=True)
    pictures = {folder / f"{id}.png": encode_png(decode(suite.read(id))) for id in suite.sources}
    for path, data in pictures.items():
        refuse_strangers_file(path, data.__eq__)
    for path, data in pictures.items():
        write_whole(path, data)
