"""`convergebench verify`: checks every hash, count and reference of a run or a dataset."""

import json
import sys
from pathlib import Path

import click

from ._shared import json_option


@click.command("verify")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--repair", is_flag=True, help="Set aside what is broken, so that it can be made anew.")
@json_option
def verify(folder: Path, repair: bool, as_json: bool) -> None:
    """Check a run or a dataset, and say precisely what is broken and what depends on it.

    \b
    convergebench verify runs/demo
    convergebench verify convergebench --repair
    """
    from convergebench.dataset_builder.publishing import verify as verifying

    findings = verifying.verify(folder)
    moved = verifying.set_aside(folder, findings) if repair else []
    is_run = (folder / "chains").is_dir()
    anew = "`convergebench generate`" if is_run else "`convergebench build` and `convergebench score`"
    if as_json:
        found = [each._asdict() for each in findings]
        click.echo(json.dumps({"folder": str(folder), "findings": found, "set_aside": moved}))
    else:
        for each in findings:
            click.echo(f"broken: {each.sentence}", err=True)
        for path in moved:
            click.echo(
                f"set aside: {path}, into {folder / verifying.SET_ASIDE}; {anew} with the same words makes it anew"
            )
        if not findings:
            click.echo(f"{folder}: nothing is broken")
    if findings:
        sys.exit(1)
